package deposits

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/core/tenant"
	"partnerdeposits/core/zone"
	depositports "partnerdeposits/ports/deposits"
)

func (s OperatorNoticeStore) DueSecuredNotices(ctx context.Context, limit int) ([]id.ID, error) {
	return queries.SecuredDue(ctx, s.DB, limit)
}

// SQL about covers that end soon. The operator gets a mail if one is new since the last mail, at most once a
// day.
const (
	dueCovers = ` FROM open_deposits d WHERE d.account_id = a.id AND d.status = 'active' AND d.ends_at > $1
		AND d.ends_at < $2`
	due = `o.cover_mails AND ($4::boolean OR o.verified_at IS NOT NULL)
		AND NOT EXISTS (SELECT FROM cover_mails m WHERE m.account_id = a.id AND m.mailed_at >= $3)
		AND EXISTS (SELECT` + dueCovers + ` AND NOT EXISTS (
			SELECT FROM cover_mails m JOIN deposits c ON c.id = d.deposit_id
			WHERE m.account_id = a.id AND d.ends_at < m.told_until AND c.activated_at <= m.mailed_at))`
)

func (s OperatorNoticeStore) AccountsWithEndingCovers(ctx context.Context, r depositports.EndingCoverQuery,
	limit int) ([]id.ID, error) {
	rows, err := s.DB.Query(ctx, `SELECT a.id FROM accounts a JOIN operators o ON o.id = a.operator_id
		WHERE `+due+` ORDER BY a.id LIMIT $5`, r.Now, r.Before, r.Today, !r.VerifyAddresses, limit)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	return found, pg.Translate(err)
}

// AddSecuredNotice stores that the operator is to get a mail about a secured deposit.
func (s OperatorNoticeStore) AddSecuredNotice(ctx context.Context, depositID id.ID, at time.Time) error {
	return queries.InsertSecuredNotice(ctx, pg.In(ctx).QueueingTx(), depositID, at)
}

// TakeSecuredNotice deletes the notice about a secured deposit and returns what its mail needs; a second
// dispatcher finds no row.
func (s OperatorNoticeStore) TakeSecuredNotice(
	ctx context.Context, depositID id.ID,
) (about depositports.SecuredMailData, ok bool, err error) {
	row, err := queries.TakeSecured(ctx, pg.In(ctx), depositID)
	if errors.Is(err, pgx.ErrNoRows) {
		return about, false, nil
	}
	in := zone.ByName(row.Timezone)
	return depositports.SecuredMailData{
		Operator: connect.Operator{ID: row.OperatorID, Email: row.Email, Locale: row.Locale}, Verified: row.Verified,
		Deposit: depositports.SecuredDeposit{
			ID: row.ID, Reference: row.Reference, Amount: row.Amount, RentalContract: row.RentalContract,
			ContractStartAt: row.ContractStartAt.In(in), ContractEndAt: row.ContractEndAt.In(in),
			ExpiresAt: row.ExpiresAt.In(in),
		},
		Company: row.CompanyName, Tenant: tenant.MailContact{Email: row.TenantEmail, Locale: row.TenantLocale},
		Words: row.Words, Fee: money.Cents(row.Fee), PaidAt: row.PaidAt.In(in),
	}, err == nil, err
}

// TakeEndingCovers marks an account's mail about ending covers as sent and returns what it needs. A row lock
// keeps a second dispatcher from sending it too.
func (s OperatorNoticeStore) TakeEndingCovers(
	ctx context.Context, accountID id.ID, round depositports.EndingCoverQuery, limit int,
) (about depositports.EndingCoversMailData, ok bool, err error) {
	if err = queries.InsertCoverMail(ctx, pg.In(ctx), accountID); err != nil {
		return about, false, err
	}
	if err = queries.LockCoverMail(ctx, pg.In(ctx), accountID); err != nil {
		return about, false, err
	}
	var timezone string
	err = pg.In(ctx).QueryRow(ctx, `
		UPDATE cover_mails SET mailed_at = $1, told_until = $2 FROM accounts a JOIN operators o ON o.id = a.operator_id
		WHERE a.id = $5 AND cover_mails.account_id = a.id AND `+due+`
		RETURNING o.id, o.email, o.locale, a.timezone`,
		round.Now, round.Before, round.Today, !round.VerifyAddresses, accountID).
		Scan(&about.Operator.ID, &about.Operator.Email, &about.Operator.Locale, &timezone)
	if errors.Is(err, pgx.ErrNoRows) {
		return about, false, nil
	}
	if err != nil {
		return about, false, err
	}
	rows, err := pg.In(ctx).Query(ctx, `
		SELECT c.reference, d.amount_cents, c.rental_contract, d.ends_at, d.n
		FROM (SELECT d.*, count(*) OVER () AS n`+strings.ReplaceAll(dueCovers, "a.id", "$3")+
		` ORDER BY d.ends_at, d.deposit_id LIMIT $4) AS d JOIN deposits c ON c.id = d.deposit_id
		ORDER BY d.ends_at, d.deposit_id`, round.Now, round.Before, accountID, limit)
	if err != nil {
		return about, false, err
	}
	about.Covers, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (c depositports.EndingCover, err error) {
		err = row.Scan(&c.Reference, &c.Amount, &c.RentalContract, &c.ExpiresAt, &about.Count)
		c.ExpiresAt = c.ExpiresAt.In(zone.ByName(timezone))
		return c, err
	})
	return about, err == nil, err
}
