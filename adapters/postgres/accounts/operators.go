package accounts

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/accounts/internal/sqlc"
	"partnerdeposits/adapters/postgres/internal/lists"
	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/mailaddr"
	"partnerdeposits/core/money"
	accountports "partnerdeposits/ports/accounts"
	ports "partnerdeposits/ports/platform"
)

// lastSeenPrecision returns the least time between two writes of last_seen_at: five minutes, or a tenth of the
// idle limit if shorter.
func lastSeenPrecision(idle time.Duration) time.Duration { return min(5*time.Minute, idle/10) }

func (r OperatorStore) Insert(ctx context.Context, o connect.Operator, a connect.Account) error {
	return pg.RequireRowChanged(connect.ErrEmailTaken)(queries.InsertOperator(ctx, pg.In(ctx), sqlc.InsertOperatorParams{
		ID: o.ID, Email: o.Email, EmailKey: mailaddr.Normalized(o.Email), PasswordHash: o.PasswordHash, Locale: o.Locale,
		CreatedAt: o.CreatedAt,
		AccountID: a.ID, CompanyName: a.CompanyName, MaxAmountCents: int64(a.MaxAmountCents), AccountCreatedAt: a.CreatedAt,
	}))
}

func (r SessionStore) InsertSession(ctx context.Context, s accountports.Session) error {
	return queries.InsertSession(ctx, pg.In(ctx).QueueingTx(), sqlc.InsertSessionParams{
		TokenHash: s.TokenHash[:], OperatorID: s.OperatorID, Browser: s.Browser, CreatedAt: s.CreatedAt,
		LastSeenAt: s.LastSeenAt, ExpiresAt: s.ExpiresAt,
	})
}

func (r SessionStore) DeleteSession(ctx context.Context, tokenHash [32]byte) error {
	return queries.DeleteSession(ctx, pg.In(ctx).QueueingTx(), tokenHash[:])
}

func (r SessionStore) DeleteSessionsOfOperator(ctx context.Context, operatorID id.ID) (int, error) {
	n, err := queries.DeleteSessionsOf(ctx, pg.In(ctx), operatorID)
	return int(n), err
}

func (r SessionStore) RecordNetwork(ctx context.Context, operatorID id.ID, network [32]byte, at time.Time) error {
	return queries.RecordNetwork(ctx, pg.In(ctx).QueueingTx(), sqlc.RecordNetworkParams{
		OperatorID: operatorID, Network: network[:], UnusedSince: at.Add(-accountports.SignInNetworkRetention), At: at,
	})
}

func (r OperatorStore) SetDepositCeiling(ctx context.Context, accountID id.ID, maxAmount money.Cents) error {
	return pg.RequireRowChanged(connect.ErrAccountNotFound)(queries.SetCeiling(ctx, pg.In(ctx), int64(maxAmount),
		accountID))
}

func (r OperatorStore) ChangeAccount(ctx context.Context, accountID id.ID, change accountports.AccountChange) error {
	return pg.RequireRowChanged(connect.ErrAccountNotFound)(queries.ChangeAccount(ctx, pg.In(ctx),
		sqlc.ChangeAccountParams{
			CompanyName: change.CompanyName, Contact: change.Contact, Timezone: change.Timezone, ID: accountID,
		}))
}

func (r SessionStore) DeleteExpiredSessions(ctx context.Context, at time.Time, limit int) (int, error) {
	n, err := queries.DeleteExpiredSessions(ctx, pg.In(ctx), at, limit)
	return int(n), err
}

func (r OperatorStore) OperatorByEmail(ctx context.Context, email string) (connect.Operator, connect.Account, error) {
	row, err := queries.OperatorByEmail(ctx, r.DB, mailaddr.Normalized(email))
	o, a := toOperator(row)
	return o, a, pg.ReplaceErrNoRows(err, connect.ErrBadCredentials)
}

func (r SessionStore) OperatorBySession(ctx context.Context, tokenHash [32]byte, now time.Time,
	idle time.Duration) (connect.Operator, connect.Account, error) {
	row, err := queries.OperatorBySession(ctx, r.DB, tokenHash[:], now, now.Add(-idle))
	if err != nil {
		return connect.Operator{}, connect.Account{}, pg.ReplaceErrNoRows(err, connect.ErrBadCredentials)
	}
	if now.Sub(row.LastSeenAt) >= lastSeenPrecision(idle) {
		if err := queries.SetLastSeen(ctx, r.DB, now, tokenHash[:]); err != nil {
			return connect.Operator{}, connect.Account{}, err
		}
	}
	o, a := toOperator(
		sqlc.OperatorByEmailRow{ID: row.ID, Email: row.Email, PasswordHash: row.PasswordHash, CreatedAt: row.CreatedAt,
			VerifiedAt: row.VerifiedAt, Locale: row.Locale, AccountID: row.AccountID, CompanyName: row.CompanyName,
			MaxAmountCents: row.MaxAmountCents, Timezone: row.Timezone, Contact: row.Contact,
			AccountCreatedAt: row.AccountCreatedAt})
	return o, a, nil
}

func (r SessionStore) NetworkKnown(ctx context.Context, operatorID id.ID, network [32]byte, now time.Time) (bool,
	error) {
	return queries.NetworkKnown(ctx, r.DB, operatorID, network[:], now.Add(-accountports.SignInNetworkRetention))
}

func (r OperatorStore) AccountByID(ctx context.Context, accountID id.ID) (connect.Account, connect.Operator, error) {
	row, err := queries.AccountByID(ctx, r.DB, accountID)
	o, a := toOperator(sqlc.OperatorByEmailRow(row))
	return a, o, pg.ReplaceErrNoRows(err, connect.ErrAccountNotFound)
}

func (r OperatorStore) Accounts(ctx context.Context, page ports.Page) (ports.ListPage[connect.Account], error) {
	l := &lists.PageQuery{Table: "accounts", Identity: []string{"id"}, Order: []string{"created_at", "id"}}
	l.AfterCursor(page.Cursor)
	sql := `SELECT id, operator_id, company_name, coalesce(max_amount_cents, 0), timezone, contact, created_at, fits, n
		FROM ` + l.RowsExpression(page) + ` AS a ORDER BY created_at DESC, id DESC`
	return lists.ReadPage(ctx, r.DB, l, page, sql,
		func(row pgx.CollectableRow) (got lists.PageCandidateRow[connect.Account], err error) {
			a := &got.Item
			err = row.Scan(&a.ID, &a.OperatorID, &a.CompanyName, &a.MaxAmountCents, &a.Timezone, &a.Contact,
				&a.CreatedAt, &got.Fits, &got.N)
			return got, err
		}, func(a connect.Account) ports.Cursor { return ports.Cursor{At: a.CreatedAt, ID: a.ID} })
}

func toOperator(row sqlc.OperatorByEmailRow) (connect.Operator, connect.Account) {
	return connect.Operator{ID: row.ID, Email: row.Email, PasswordHash: row.PasswordHash, CreatedAt: row.CreatedAt,
			VerifiedAt: row.VerifiedAt, Locale: row.Locale},
		connect.Account{ID: row.AccountID, OperatorID: row.ID, CompanyName: row.CompanyName,
			MaxAmountCents: money.Cents(row.MaxAmountCents), Timezone: row.Timezone, Contact: row.Contact,
			CreatedAt: row.AccountCreatedAt}
}

func (r OperatorStore) WantsCoverMails(ctx context.Context, operatorID id.ID) (bool, error) {
	return queries.WantsCoverMails(ctx, r.DB, operatorID)
}

func (r OperatorStore) SetCoverMails(ctx context.Context, operatorID id.ID, wanted bool) error {
	return queries.SetCoverMails(ctx, pg.In(ctx), wanted, operatorID)
}

func (r OperatorStore) AccountIDOfOperator(ctx context.Context, operatorID id.ID) (id.ID, error) {
	accountID, err := queries.AccountOfOperator(ctx, r.DB, operatorID)
	return accountID, pg.ReplaceErrNoRows(err, connect.ErrAccountNotFound)
}
