package sandbox

import (
	"context"
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	paymentports "partnerdeposits/ports/payments"
)

// BookEntries returns the sandbox's successful payments and its refunds between two times.
func (p *Provider) BookEntries(ctx context.Context, from, to time.Time) iter.Seq2[paymentports.BookEntry, error] {
	return func(yield func(paymentports.BookEntry, error) bool) {
		rows, err := p.pool.Query(ctx, `
			SELECT 'payment', id, NULL::uuid, ref, amount_cents, updated_at FROM sandbox_payments WHERE status = 'succeeded'
			AND updated_at >= $1 AND updated_at < $2
			UNION ALL
			SELECT 'refund', payment_id, id, ref, amount_cents, created_at FROM sandbox_refunds WHERE created_at >= $1
			AND created_at < $2`,
			from, to)
		if err != nil {
			yield(paymentports.BookEntry{}, unavailable(err))
			return
		}
		found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (paymentports.BookEntry, error) {
			// Every entry has succeeded: only successful payments are read, and a refund in the sandbox succeeds at once.
			e := paymentports.BookEntry{Status: string(paymentports.ProviderPaymentSucceeded),
				Currency: paymentports.PaymentCurrency}
			var amount int64
			err := row.Scan((*string)(&e.Kind), &e.PaymentID, &e.RefundID, &e.Ref, &amount, &e.At)
			e.Amount = money.Cents(amount)
			return e, err
		})
		if err != nil {
			yield(paymentports.BookEntry{}, unavailable(err))
			return
		}
		for _, e := range found {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (p *Provider) Disputes(context.Context, id.ID) ([]paymentports.Dispute, error) { return nil, nil }

// PaymentIDOf returns the id of the sandbox's payment with a reference; the zero id if there is none.
func (p *Provider) PaymentIDOf(ctx context.Context, providerRef string) (paymentID id.ID, err error) {
	if !strings.HasPrefix(providerRef, refPrefix) {
		return id.ID{}, nil
	}
	err = p.pool.QueryRow(ctx, `SELECT id FROM sandbox_payments WHERE ref = $1`, providerRef).Scan(&paymentID)
	if errors.Is(err, pgx.ErrNoRows) {
		return id.ID{}, nil
	}
	return paymentID, err
}
