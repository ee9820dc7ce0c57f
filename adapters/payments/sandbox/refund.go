package sandbox

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/core/money"
	paymentports "partnerdeposits/ports/payments"
)

// Failure codes of refunds that the sandbox refuses.
const (
	failureNotPaid  = "charge_not_paid"
	failureTooLarge = "amount_too_large"
)

// Refund refunds a part of a payment at once. A repeated refund id returns the first refund.
func (p *Provider) Refund(ctx context.Context,
	r paymentports.RefundRequest) (made paymentports.ProviderRefund, err error) {
	err = pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		var (
			status       string
			paid, before money.Cents
		)
		row := tx.QueryRow(ctx, `SELECT status, amount_cents FROM sandbox_payments WHERE id = $1 FOR UPDATE`,
			[16]byte(r.PaymentID))
		if err := row.Scan(&status, (*int64)(&paid)); errors.Is(err, pgx.ErrNoRows) {
			made = paymentports.ProviderRefund{Status: paymentports.RefundFailed, Failure: failureNotPaid}
			return nil
		} else if err != nil {
			return err
		}
		row = tx.QueryRow(ctx, `SELECT coalesce(sum(amount_cents), 0)::bigint, coalesce(max(ref) FILTER (WHERE id = $2), '')
			FROM sandbox_refunds WHERE payment_id = $1`, [16]byte(r.PaymentID), [16]byte(r.RefundID))
		if err := row.Scan((*int64)(&before), &made.Ref); err != nil {
			return err
		}
		switch {
		case made.Ref != "":
			made.Status = paymentports.RefundSucceeded
			return nil
		case paymentports.ProviderPaymentStatus(status) != paymentports.ProviderPaymentSucceeded:
			made = paymentports.ProviderRefund{Status: paymentports.RefundFailed, Failure: failureNotPaid}
			return nil
		case before+r.Amount > paid:
			made = paymentports.ProviderRefund{Status: paymentports.RefundFailed, Failure: failureTooLarge}
			return nil
		}
		made = paymentports.ProviderRefund{Status: paymentports.RefundSucceeded, Ref: p.newRef()}
		_, err := tx.Exec(ctx, `INSERT INTO sandbox_refunds (id, payment_id, ref, amount_cents) VALUES ($1, $2, $3, $4)`,
			[16]byte(r.RefundID), [16]byte(r.PaymentID), made.Ref, int64(r.Amount))
		return err
	})
	if err != nil {
		return paymentports.ProviderRefund{}, unavailable(err)
	}
	return made, nil
}
