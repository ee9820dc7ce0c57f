package accounts

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/accounts/internal/sqlc"
	"partnerdeposits/adapters/postgres/internal/lists"
	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sets"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	accountports "partnerdeposits/ports/accounts"
	ports "partnerdeposits/ports/platform"
)

// maxLinkTries bounds how often the insert of a link is repeated after a conflict with a link that was then
// revoked.
const maxLinkTries = 5

func (r PartnerLinkStore) Insert(ctx context.Context, l connect.Link) error {
	for range maxLinkTries {
		n, err := queries.InsertLink(ctx, pg.In(ctx), sqlc.InsertLinkParams{
			ID: l.ID, PartnerID: l.PartnerID, AccountID: l.AccountID, ExternalID: l.ExternalID, LinkedAt: l.LinkedAt,
		})
		if err != nil || n == 1 {
			return err
		}
		if err := r.conflict(ctx, l); err != nil {
			return err
		}
	}
	// Give up: the account's links change too quickly. A repeated request probably succeeds.
	return fault.ErrUnavailable
}

// conflict returns the error that names the active link in conflict with l; nil if it was revoked.
func (r PartnerLinkStore) conflict(ctx context.Context, l connect.Link) error {
	row, err := queries.ActiveLink(ctx, pg.In(ctx), l.AccountID)
	if err == nil {
		current := connect.Link(row)
		already, err := connect.CheckNewLink(&current, l.PartnerID, l.ExternalID)
		if already {
			return connect.ErrAlreadyLinked
		}
		return err
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	_, err = queries.ActiveLinkByExternalID(ctx, pg.In(ctx), l.PartnerID, l.ExternalID)
	switch {
	case err == nil:
		return connect.ErrExternalIDConflict
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	default:
		return err
	}
}

// LockActiveLink returns the active link of an account, or nil. It locks the account first, so that two
// requests that connect it wait for each other.
func (r PartnerLinkStore) LockActiveLink(ctx context.Context, accountID id.ID) (*connect.Link, error) {
	if err := queries.LockAccount(ctx, pg.In(ctx).QueueingTx(), accountID); err != nil {
		return nil, err
	}
	row, err := queries.ActiveLinkForUpdate(ctx, pg.In(ctx), accountID)
	return linkOrNil(connect.Link(row), err)
}

func linkOrNil(l connect.Link, err error) (*connect.Link, error) {
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil // An account without a link is no error; the result is nil.
	}
	if err != nil {
		return nil, err
	}
	return &l, nil
}

func (r PartnerLinkStore) LockNewestShared(ctx context.Context, partnerID, accountID id.ID) (ports.LinkedAccount,
	error) {
	var link ports.LinkedAccount
	var err error = connect.ErrAccountNotLinked
	pair := ports.LinkLookupKey{PartnerID: partnerID, AccountID: accountID}
	LockLinksShared(pg.In(ctx), []ports.LinkLookupKey{pair}, sets.RowLockingWait, r.defaultMax,
		func(l ports.LinkedAccount) { link, err = l, nil })
	if failed := pg.In(ctx).Flush(ctx); failed != nil {
		return ports.LinkedAccount{}, failed
	}
	return link, err
}

func (r PartnerLinkStore) Revoke(ctx context.Context, partnerID, accountID id.ID, by connect.RevokedBy,
	at time.Time) (bool, error) {
	n, err := queries.RevokeLink(ctx, pg.In(ctx),
		sqlc.RevokeLinkParams{At: at, RevokedBy: string(by), PartnerID: partnerID, AccountID: accountID})
	return n > 0, err
}

func toLinked(row sqlc.NewestLinkRow, defaultMax money.Cents) ports.LinkedAccount {
	return ports.LinkedAccount{
		Link: connect.Link{ID: row.ID, PartnerID: row.PartnerID, AccountID: row.AccountID, ExternalID: row.ExternalID,
			LinkedAt: row.LinkedAt, RevokedAt: row.RevokedAt},
		MaxAmountCents: pg.OrDefault(money.Cents(row.MaxAmountCents), defaultMax),
	}
}

func (r PartnerLinkStore) LinkedAccounts(ctx context.Context, partnerID id.ID, f accountports.PartnerLinkFilter,
	page ports.Page) (ports.ListPage[ports.LinkedAccount], error) {
	l := &lists.PageQuery{Table: "account_links", Identity: []string{"id"}, Order: []string{"linked_at", "id"}}
	l.Where("partner_id = ?", partnerID)
	// The status narrows the list by an index of its own, unless the list reads the index of external ids.
	narrow := l.Where
	if f.ExternalID != "" {
		l.Where("external_id = ?", f.ExternalID)
		narrow = l.Filter
	}
	switch f.Status {
	case connect.LinkActive:
		narrow("revoked_at IS NULL")
	case connect.LinkRevoked:
		narrow("revoked_at IS NOT NULL")
	}
	// List only the newest link of each pair of partner and account.
	l.Filter(
		`NOT EXISTS (SELECT FROM account_links n WHERE n.partner_id = account_links.partner_id
			AND n.account_id = account_links.account_id
		AND (n.linked_at, n.id) > (account_links.linked_at, account_links.id))`)
	l.AfterCursor(page.Cursor)
	// The account's greatest amount is read by a subquery: for a join Postgres may read all accounts.
	ceiling := `coalesce((SELECT a.max_amount_cents FROM accounts a WHERE a.id = l.account_id), ` +
		l.AddArgument(int64(r.defaultMax)) + `)`
	sql := `SELECT l.id, l.partner_id, l.account_id, l.external_id, l.linked_at, l.revoked_at, ` + ceiling + `, l.Fits, l.n
		FROM ` + l.RowsExpression(page) + ` AS l ORDER BY l.linked_at DESC, l.id DESC`
	return lists.ReadPage(ctx, r.DB, l, page, sql,
		func(row pgx.CollectableRow) (got lists.PageCandidateRow[ports.LinkedAccount], err error) {
			a := &got.Item
			err = row.Scan(&a.ID, &a.PartnerID, &a.AccountID, &a.ExternalID, &a.LinkedAt, &a.RevokedAt, &a.MaxAmountCents,
				&got.Fits, &got.N)
			return got, err
		}, func(a ports.LinkedAccount) ports.Cursor { return ports.Cursor{At: a.LinkedAt, ID: a.ID} })
}

func (r PartnerLinkStore) LinkedAccount(ctx context.Context, partnerID, accountID id.ID) (ports.LinkedAccount, error) {
	row, err := queries.NewestLink(ctx, r.DB, partnerID, accountID)
	return toLinked(row, r.defaultMax), pg.ReplaceErrNoRows(err, connect.ErrAccountNotFound)
}

func (r PartnerLinkStore) ActiveLink(ctx context.Context, accountID id.ID) (*connect.Link, error) {
	row, err := queries.ActiveLink(ctx, r.DB, accountID)
	return linkOrNil(connect.Link(row), err)
}

func (r PartnerLinkStore) ActiveLinkByExternalID(ctx context.Context, partnerID id.ID,
	externalID string) (*connect.Link,
	error) {
	row, err := queries.ActiveLinkByExternalID(ctx, r.DB, partnerID, externalID)
	return linkOrNil(connect.Link(row), err)
}

func (r PartnerLinkStore) LastRevokedAt(ctx context.Context, partnerID id.ID, externalID string) (time.Time, error) {
	if pg.HasTx(ctx) {
		return queries.LastRevoked(ctx, pg.In(ctx), partnerID, externalID)
	}
	return queries.LastRevoked(ctx, r.DB, partnerID, externalID)
}
