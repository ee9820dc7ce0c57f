package payments

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	paymentports "partnerdeposits/ports/payments"
)

// ownRecords is the SQL of the service's own payments, refunds and disputes, to which a condition is appended.
var ownRecords = map[paymentports.BookEntryKind]string{
	paymentports.BookEntryPayment: `SELECT p.id::text, p.id, p.deposit_id, p.provider_ref, p.amount_cents, p.status
		FROM payments p WHERE `,
	paymentports.BookEntryRefund: `SELECT r.id::text, r.payment_id, r.deposit_id, r.provider_ref, r.amount_cents, r.status
		FROM refunds r WHERE `,
	paymentports.BookEntryDispute: `SELECT d.ref, d.payment_id, d.deposit_id, d.ref, d.amount_cents, d.status FROM disputes d
		WHERE `,
}

var (
	ownNamed = map[paymentports.BookEntryKind]string{
		paymentports.BookEntryPayment: `p.id = ANY($1::text[]::uuid[])`, paymentports.BookEntryRefund: `r.id = ANY($1::text[]::uuid[])`,
		paymentports.BookEntryDispute: `d.ref = ANY($1::text[])`,
	}
	ownBetween = map[paymentports.BookEntryKind]string{
		paymentports.BookEntryPayment: `p.status = 'succeeded' AND p.settled_at >= $1 AND p.settled_at < $2
			ORDER BY p.settled_at, p.id`,
		paymentports.BookEntryRefund: `r.status = 'succeeded' AND r.settled_at >= $1 AND r.settled_at < $2
			ORDER BY r.settled_at, r.id`,
		paymentports.BookEntryDispute: `d.created_at >= $1 AND d.created_at < $2 ORDER BY d.created_at, d.ref`,
	}
)

func (s BooksStore) EntriesByKey(ctx context.Context, kind paymentports.BookEntryKind,
	keys []string) (map[string]paymentports.OwnBookEntry, error) {
	found, err := s.ownEntries(ctx, kind, ownNamed[kind], keys)
	out := make(map[string]paymentports.OwnBookEntry, len(found))
	for _, e := range found {
		out[e.Key] = e
	}
	return out, err
}

func (s BooksStore) EntriesBetween(ctx context.Context, kind paymentports.BookEntryKind, from,
	to time.Time) ([]paymentports.OwnBookEntry, error) {
	return s.ownEntries(ctx, kind, ownBetween[kind], from, to)
}

func (s BooksStore) ownEntries(ctx context.Context, kind paymentports.BookEntryKind, condition string,
	args ...any) ([]paymentports.OwnBookEntry, error) {
	rows, err := s.DB.Query(ctx, ownRecords[kind]+condition, args...)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (paymentports.OwnBookEntry, error) {
		e := paymentports.OwnBookEntry{Kind: kind}
		err := row.Scan(&e.Key, &e.PaymentID, &e.DepositID, &e.ProviderRef, &e.Amount, &e.Status)
		return e, err
	})
	return found, pg.Translate(err)
}

// retryRun is the age from which an unfinished comparison with the payment provider's records is made again.
const retryRun = 30 * time.Minute

func (s BooksStore) BeginReconciliation(ctx context.Context, now, since time.Time) (bool, error) {
	n, err := queries.BeginReconciliation(ctx, s.DB, now, since, now.Add(-retryRun))
	return n > 0, err
}

func (s BooksStore) EndReconciliation(ctx context.Context, r paymentports.ReconciliationRun) error {
	return queries.EndReconciliation(ctx, s.DB, r.EndedAt, r.Checked, r.Differences)
}

func (s BooksStore) LastReconciliation(ctx context.Context) (paymentports.ReconciliationRun, error) {
	row, err := queries.LastReconciliation(ctx, s.DB)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return paymentports.ReconciliationRun(row), err
}
