package payments

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
)

// debtColumns are those of deposit.Debt, in the order of its fields.
const debtColumns = `payment_id, deposit_id, state, steps, captured_at, attempt, answered, attempted_at, next_attempt_at, page_at, ended_at, failure, barred, cancel_at, cancel_by`

// Lock implements paymentports.Collections.
func (r Collections) Lock(ctx context.Context, paymentID id.ID) (deposit.Debt, error) {
	rows, err := pg.In(ctx).Query(ctx, `SELECT `+debtColumns+` FROM collections WHERE payment_id = $1 FOR UPDATE`, paymentID)
	if err != nil {
		return deposit.Debt{}, err
	}
	d, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[deposit.Debt])
	return d, pg.OrNotFound(pg.Translate(err), deposit.ErrNoCollection)
}

// Save implements paymentports.Collections. The key of collection_steps refuses a second step of a number.
func (r Collections) Save(ctx context.Context, d deposit.Debt, steps ...deposit.CollectionTransition) error {
	_, err := pg.In(ctx).Deferred().Exec(ctx, `UPDATE collections SET state = $2, steps = $3, attempt = $4, answered = $5, attempted_at = $6, next_attempt_at = $7, page_at = $8,
		ended_at = $9, failure = $10, barred = $11, cancel_at = $12, cancel_by = $13 WHERE payment_id = $1`,
		d.PaymentID, string(d.State), d.Transitions, d.Attempt, d.Answered, d.AttemptedAt, d.NextAttemptAt, d.PageAt,
		d.EndedAt, d.Failure, d.Barred, d.CancelAt, cancelBy(d.CancelBy))
	for _, s := range steps {
		if err == nil {
			_, err = pg.In(ctx).Deferred().Exec(ctx, `INSERT INTO collection_steps (payment_id, number, from_state, to_state, trigger, at, actor, detail) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
				s.PaymentID, s.Number, string(s.From), string(s.To), string(s.Trigger), s.At,
				s.Actor.String(), s.Detail)
		}
	}
	return err
}

// cancelBy is the author of an end, as stored. During a rolling deployment an older dispatcher may record the end. It
// knows the clock by the former text alone: with the present one it would record "cancelled" in place of "expired".
func cancelBy(a actor.Actor) string {
	if a == actor.Clock {
		return actor.FormerClock
	}
	return a.String()
}

// Debts implements paymentports.Collections.
func (r Collections) Debts(ctx context.Context, depositIDs []id.ID) (map[id.ID]deposit.Debt, error) {
	found := map[id.ID]deposit.Debt{}
	if len(depositIDs) == 0 {
		return found, nil
	}
	all, err := r.debts(ctx, `SELECT `+debtColumns+` FROM collections WHERE deposit_id = ANY ($1) ORDER BY captured_at, payment_id`, depositIDs)
	for _, d := range all { // the newest is the last
		found[d.DepositID] = d
	}
	return found, err
}

// ListCollections implements paymentports.Collections.
func (r Collections) ListCollections(ctx context.Context, f paymentports.CollectionFilter) ([]deposit.Debt, error) {
	if f.State == deposit.CollectionPaid {
		return r.debts(ctx, `SELECT `+debtColumns+` FROM collections WHERE state = 'paid' ORDER BY payment_id DESC LIMIT $1`, f.Limit)
	}
	states := deposit.CollectionStates
	if f.State != "" {
		states = []deposit.CollectionState{f.State}
	}
	var all []deposit.Debt
	for _, state := range states {
		if state == deposit.CollectionPaid {
			continue
		}
		some, err := r.debts(ctx, `SELECT `+debtColumns+` FROM collections WHERE state <> 'paid' AND state = $1 ORDER BY captured_at, payment_id LIMIT $2`, string(state), f.Limit)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	slices.SortStableFunc(all, func(a, b deposit.Debt) int { return a.CapturedAt.Compare(b.CapturedAt) })
	return all[:min(len(all), f.Limit)], nil
}

func (r Collections) debts(ctx context.Context, sql string, args ...any) ([]deposit.Debt, error) {
	rows, err := r.DB.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[deposit.Debt])
	return found, pg.Translate(err)
}

// CollectionHistory implements paymentports.Collections.
func (r Collections) CollectionHistory(ctx context.Context, paymentID id.ID) ([]deposit.CollectionTransition, error) {
	rows, err := r.DB.Query(ctx, `SELECT payment_id, number, from_state, to_state, trigger, at, actor, detail FROM collection_steps WHERE payment_id = $1 ORDER BY number`, paymentID)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[deposit.CollectionTransition])
	return found, pg.Translate(err)
}

// refundColumns are those of deposit.Refund, in the order of its fields.
const refundColumns = `id, payment_id, deposit_id, amount_cents, reason, status, provider_ref, failure, actor, created_at, check_at, settled_at`

// Payment implements paymentports.Refunds. The lock of the payment serialises its refunds.
func (r Refunds) Payment(ctx context.Context, paymentID id.ID) (p deposit.Payment, earlier []deposit.Refund, err error) {
	err = pg.In(ctx).QueryRow(ctx, `SELECT id, deposit_id, kind, amount_cents, status, provider_ref, failure, attempts, created_at, check_at, settled_at FROM payments WHERE id = $1 FOR UPDATE`, paymentID).
		Scan(&p.ID, &p.DepositID, &p.Kind, &p.Amount, &p.Status, &p.ProviderRef, &p.Failure, &p.Attempts, &p.CreatedAt, &p.CheckAt, &p.SettledAt)
	if err != nil {
		return p, nil, pg.OrNotFound(err, deposit.ErrNoCollection)
	}
	rows, err := pg.In(ctx).Query(ctx, `SELECT `+refundColumns+` FROM refunds WHERE payment_id = $1 ORDER BY created_at, id`, paymentID)
	if err != nil {
		return p, nil, err
	}
	earlier, err = pgx.CollectRows(rows, pgx.RowToStructByPos[deposit.Refund])
	return p, earlier, pg.Translate(err)
}

// Insert implements paymentports.Refunds.
func (r Refunds) Insert(ctx context.Context, f deposit.Refund) error {
	_, err := pg.In(ctx).Deferred().Exec(ctx, `INSERT INTO refunds (`+refundColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		f.ID, f.PaymentID, f.DepositID, int64(f.Amount), string(f.Reason), string(f.Status),
		f.ProviderRef, f.Failure, f.Actor.String(), f.CreatedAt, f.CheckAt, f.SettledAt)
	return err
}

// Settle implements paymentports.Refunds.
func (r Refunds) Settle(ctx context.Context, f deposit.Refund) (ok bool, err error) {
	tag, err := pg.In(ctx).Exec(ctx, `UPDATE refunds SET status = $2, provider_ref = $3, failure = $4, check_at = $5, settled_at = $6 WHERE id = $1 AND status = 'pending'`,
		f.ID, string(f.Status), f.ProviderRef, f.Failure, f.CheckAt, f.SettledAt)
	return tag.RowsAffected() == 1, err
}

// Refunds implements paymentports.Refunds.
func (r Refunds) Refunds(ctx context.Context, depositID id.ID) ([]deposit.Refund, error) {
	return r.refunds(ctx, `SELECT `+refundColumns+` FROM refunds WHERE deposit_id = $1 ORDER BY created_at, id`, depositID)
}

// RefundsToCheck implements paymentports.Refunds.
func (r Refunds) RefundsToCheck(ctx context.Context, at time.Time, limit int) ([]deposit.Refund, error) {
	found, err := r.refunds(ctx, `UPDATE refunds SET check_at = $1 WHERE id IN (
		SELECT id FROM refunds WHERE status = 'pending' AND check_at <= $2 ORDER BY check_at LIMIT $3 FOR UPDATE SKIP LOCKED) RETURNING `+refundColumns,
		at.Add(checkPause), at, limit)
	slices.SortFunc(found, func(a, b deposit.Refund) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return found, err
}

func (r Refunds) refunds(ctx context.Context, sql string, args ...any) ([]deposit.Refund, error) {
	rows, err := r.DB.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[deposit.Refund])
	return found, pg.Translate(err)
}

// Add implements paymentports.TenantNotices.
func (r TenantNotices) Add(ctx context.Context, n paymentports.TenantNotice) error {
	_, err := pg.In(ctx).Deferred().Exec(ctx, `INSERT INTO tenant_notices (subject_id, kind, deposit_id, at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
		n.SubjectID, string(n.Kind), n.DepositID, n.At)
	return err
}

// Take implements paymentports.TenantNotices. A second dispatcher waits for the first at the DELETE, and finds no row.
func (r TenantNotices) Take(ctx context.Context, n paymentports.TenantNotice) (ok bool, err error) {
	var taken id.ID
	err = pg.In(ctx).QueryRow(ctx, `DELETE FROM tenant_notices WHERE subject_id = $1 AND kind = $2 RETURNING subject_id`, n.SubjectID, string(n.Kind)).Scan(&taken)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// TenantNoticesDue implements paymentports.TenantNotices.
func (r TenantNotices) TenantNoticesDue(ctx context.Context, limit int) ([]paymentports.TenantNotice, error) {
	rows, err := r.DB.Query(ctx, `SELECT subject_id, kind, deposit_id, at FROM tenant_notices ORDER BY at, subject_id LIMIT $1`, limit)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[paymentports.TenantNotice])
	return found, pg.Translate(err)
}
