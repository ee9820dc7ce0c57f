package deposits

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/id"
	depositports "partnerdeposits/ports/deposits"
)

// SecuredDue implements depositports.OperatorNotices.
func (s OperatorNotices) SecuredDue(ctx context.Context, limit int) ([]id.ID, error) {
	return s.ids(ctx, `SELECT deposit_id FROM secured_notices ORDER BY secured_at LIMIT $1`, limit)
}

// dueCovers are the covers d of account a that end soon. due tells whether the operator is to be told of them: one of
// them is new since the last mail, which is of an earlier day.
const (
	dueCovers = ` FROM open_deposits d WHERE d.account_id = a.id AND d.status = 'active' AND d.ends_at > $1 AND d.ends_at < $2`
	due       = `o.cover_mails AND ($4::boolean OR o.verified_at IS NOT NULL)
		AND NOT EXISTS (SELECT FROM cover_mails m WHERE m.account_id = a.id AND m.mailed_at >= $3)
		AND EXISTS (SELECT` + dueCovers + ` AND NOT EXISTS (
			SELECT FROM cover_mails m JOIN deposits c ON c.id = d.deposit_id
			WHERE m.account_id = a.id AND d.ends_at < m.told_until AND c.activated_at <= m.mailed_at))`
)

// CoversDue implements depositports.OperatorNotices.
func (s OperatorNotices) CoversDue(ctx context.Context, r depositports.CoverRound, limit int) ([]id.ID, error) {
	return s.ids(ctx, `SELECT a.id FROM accounts a JOIN operators o ON o.id = a.operator_id WHERE `+due+` ORDER BY a.id LIMIT $5`,
		r.Now, r.Before, r.Today, !r.VerifyAddresses, limit)
}

func (s OperatorNotices) ids(ctx context.Context, sql string, args ...any) ([]id.ID, error) {
	rows, err := s.DB.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	return found, pg.Translate(err)
}

// AddSecured implements depositports.OperatorNotices. A deposit is secured once in its life.
func (s OperatorNotices) AddSecured(ctx context.Context, depositID id.ID, at time.Time) error {
	_, err := pg.In(ctx).Deferred().Exec(ctx, `INSERT INTO secured_notices (deposit_id, secured_at) VALUES ($1, $2) ON CONFLICT DO NOTHING`, depositID, at)
	return err
}

// TakeSecured implements depositports.OperatorNotices. A second dispatcher waits for the first at the DELETE, and finds no
// row.
func (s OperatorNotices) TakeSecured(ctx context.Context, depositID id.ID) (about depositports.SecuredSubject, ok bool, err error) {
	d := &about.Deposit
	err = pg.In(ctx).QueryRow(ctx, `
		WITH taken AS (DELETE FROM secured_notices WHERE deposit_id = $1 RETURNING deposit_id)
		SELECT o.id, o.email, o.locale, o.verified_at IS NOT NULL, d.id, d.reference, d.amount_cents, d.rental_contract, d.contract_start_at, d.contract_end_at, d.expires_at,
			a.company_name, coalesce(c.email, ''), coalesce(g.locale, ''), coalesce(g.words, ''), coalesce(p.amount_cents, 0), p.settled_at
		FROM taken JOIN deposits d ON d.id = taken.deposit_id JOIN accounts a ON a.id = d.account_id JOIN operators o ON o.id = a.operator_id
			LEFT JOIN clients c ON c.id = d.client_id
			LEFT JOIN payments p ON p.deposit_id = d.id AND p.kind = 'fee' AND p.status = 'succeeded'
			LEFT JOIN LATERAL (SELECT words, locale FROM deposit_agreements x WHERE x.deposit_id = d.id ORDER BY agreed_at DESC LIMIT 1) g ON true`, depositID).
		Scan(&about.Operator.ID, &about.Operator.Email, &about.Operator.Locale, &about.Verified,
			&d.ID, &d.Reference, &d.Amount, &d.RentalContract, &d.ContractStartAt, &d.ContractEndAt, &d.ExpiresAt,
			&about.Company, &about.Tenant.Email, &about.Tenant.Locale, &about.Words, &about.Fee, &about.PaidAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return about, false, nil
	}
	return about, err == nil, err
}

// TakeCovers implements depositports.OperatorNotices. The row of cover_mails is inserted or locked first: a second dispatcher
// waits there, and then sees that the mail is of today.
func (s OperatorNotices) TakeCovers(ctx context.Context, accountID id.ID, round depositports.CoverRound, limit int) (about depositports.CoverSubject, ok bool, err error) {
	if _, err = pg.In(ctx).Exec(ctx, `INSERT INTO cover_mails (account_id, mailed_at, told_until) VALUES ($1, '-infinity', '-infinity') ON CONFLICT DO NOTHING`, accountID); err != nil {
		return about, false, err
	}
	if _, err = pg.In(ctx).Exec(ctx, `SELECT FROM cover_mails WHERE account_id = $1 FOR UPDATE`, accountID); err != nil {
		return about, false, err
	}
	err = pg.In(ctx).QueryRow(ctx, `
		UPDATE cover_mails SET mailed_at = $1, told_until = $2 FROM accounts a JOIN operators o ON o.id = a.operator_id
		WHERE a.id = $5 AND cover_mails.account_id = a.id AND `+due+`
		RETURNING o.id, o.email, o.locale`, round.Now, round.Before, round.Today, !round.VerifyAddresses, accountID).
		Scan(&about.Operator.ID, &about.Operator.Email, &about.Operator.Locale)
	if errors.Is(err, pgx.ErrNoRows) {
		return about, false, nil
	}
	if err != nil {
		return about, false, err
	}
	rows, err := pg.In(ctx).Query(ctx, `
		SELECT c.reference, d.amount_cents, c.rental_contract, d.ends_at, d.n
		FROM (SELECT d.*, count(*) OVER () AS n`+strings.ReplaceAll(dueCovers, "a.id", "$3")+` ORDER BY d.ends_at, d.deposit_id LIMIT $4) AS d JOIN deposits c ON c.id = d.deposit_id
		ORDER BY d.ends_at, d.deposit_id`, round.Now, round.Before, accountID, limit)
	if err != nil {
		return about, false, err
	}
	about.Covers, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (c depositports.EndingCover, err error) {
		return c, row.Scan(&c.Reference, &c.Amount, &c.RentalContract, &c.ExpiresAt, &about.Count)
	})
	return about, err == nil, err
}
