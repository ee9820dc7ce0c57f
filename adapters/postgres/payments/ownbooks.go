package payments

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	paymentports "partnerdeposits/ports/payments"
)

// The records of each kind: key, payment, deposit, reference, amount and status. Each is followed by a condition.
var ownRecords = map[paymentports.BookKind]string{
	paymentports.BookPayment: `SELECT p.id::text, p.id, p.deposit_id, p.provider_ref, p.amount_cents, p.status FROM payments p WHERE `,
	paymentports.BookRefund:  `SELECT r.id::text, r.payment_id, r.deposit_id, r.provider_ref, r.amount_cents, r.status FROM refunds r WHERE `,
	paymentports.BookDispute: `SELECT d.ref, d.payment_id, d.deposit_id, d.ref, d.amount_cents, d.status FROM disputes d WHERE `,
}

var (
	ownNamed = map[paymentports.BookKind]string{
		paymentports.BookPayment: `p.id = ANY($1::text[]::uuid[])`, paymentports.BookRefund: `r.id = ANY($1::text[]::uuid[])`, paymentports.BookDispute: `d.ref = ANY($1::text[])`,
	}
	ownBetween = map[paymentports.BookKind]string{
		paymentports.BookPayment: `p.status = 'succeeded' AND p.settled_at >= $1 AND p.settled_at < $2 ORDER BY p.settled_at, p.id`,
		paymentports.BookRefund:  `r.status = 'succeeded' AND r.settled_at >= $1 AND r.settled_at < $2 ORDER BY r.settled_at, r.id`,
		paymentports.BookDispute: `d.created_at >= $1 AND d.created_at < $2 ORDER BY d.created_at, d.ref`,
	}
)

// Named implements paymentports.OwnBooks.
func (s Books) Named(ctx context.Context, kind paymentports.BookKind, keys []string) (map[string]paymentports.OwnEntry, error) {
	found, err := s.ownEntries(ctx, kind, ownNamed[kind], keys)
	out := make(map[string]paymentports.OwnEntry, len(found))
	for _, e := range found {
		out[e.Key] = e
	}
	return out, err
}

// Between implements paymentports.OwnBooks.
func (s Books) Between(ctx context.Context, kind paymentports.BookKind, from, to time.Time) ([]paymentports.OwnEntry, error) {
	return s.ownEntries(ctx, kind, ownBetween[kind], from, to)
}

func (s Books) ownEntries(ctx context.Context, kind paymentports.BookKind, condition string, args ...any) ([]paymentports.OwnEntry, error) {
	rows, err := s.DB.Query(ctx, ownRecords[kind]+condition, args...)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (paymentports.OwnEntry, error) {
		e := paymentports.OwnEntry{Kind: kind}
		return e, row.Scan(&e.Key, &e.PaymentID, &e.DepositID, &e.ProviderRef, &e.Amount, &e.Status)
	})
	return found, pg.Translate(err)
}

// Due implements paymentports.OwnBooks.
func (s Books) Due(ctx context.Context, from, to time.Time) ([]paymentports.AccountDue, error) {
	rows, err := s.DB.Query(ctx, `
		WITH moved AS (
			SELECT p.deposit_id, p.amount_cents AS collected, 0 AS refunded FROM payments p
			WHERE p.kind = 'collection' AND p.status = 'succeeded' AND p.settled_at >= $1 AND p.settled_at < $2
			UNION ALL
			SELECT r.deposit_id, 0, r.amount_cents FROM refunds r JOIN payments p ON p.id = r.payment_id
			WHERE p.kind = 'collection' AND p.status = 'succeeded' AND r.status = 'succeeded' AND r.settled_at >= $1 AND r.settled_at < $2)
		SELECT a.id, a.company_name, sum(m.collected)::bigint, sum(m.refunded)::bigint
		FROM moved m JOIN deposits d ON d.id = m.deposit_id JOIN accounts a ON a.id = d.account_id
		GROUP BY a.id, a.company_name ORDER BY a.company_name, a.id`, from, to)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (d paymentports.AccountDue, err error) {
		return d, row.Scan(&d.AccountID, &d.CompanyName, &d.Collected, &d.Refunded)
	})
	return found, pg.Translate(err)
}

// retryRun is the age from which a comparison that began and did not end is made again. The job has a round an hour, so
// that the next round makes it.
const retryRun = 30 * time.Minute

// Begin implements paymentports.OwnBooks.
func (s Books) Begin(ctx context.Context, now, since time.Time) (bool, error) {
	tag, err := s.DB.Exec(ctx, `
		INSERT INTO reconciliations AS r (id, begun_at) VALUES (1, $1)
		ON CONFLICT (id) DO UPDATE SET begun_at = $1
		WHERE r.begun_at <= $2 OR (r.begun_at <= $3 AND (r.ended_at IS NULL OR r.ended_at < r.begun_at))`, now, since, now.Add(-retryRun))
	return tag.RowsAffected() > 0, err
}

// End implements paymentports.OwnBooks.
func (s Books) End(ctx context.Context, r paymentports.ReconciliationRun) error {
	_, err := s.DB.Exec(ctx, `UPDATE reconciliations SET ended_at = $1, checked = $2, differences = $3 WHERE id = 1`, r.EndedAt, r.Checked, r.Differences)
	return err
}

// Last implements paymentports.OwnBooks.
func (s Books) Last(ctx context.Context) (r paymentports.ReconciliationRun, err error) {
	err = s.DB.QueryRow(ctx, `SELECT ended_at, checked, differences FROM reconciliations WHERE id = 1`).Scan(&r.EndedAt, &r.Checked, &r.Differences)
	if errors.Is(err, pgx.ErrNoRows) {
		return r, nil
	}
	return r, err
}
