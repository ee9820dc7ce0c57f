package sandbox

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	paymentports "partnerdeposits/ports/payments"
)

// leastCharge is the sandbox's smallest charge in cents, as for real card payments in euros.
const leastCharge money.Cents = 50

func (*Provider) LeastCharge() money.Cents { return leastCharge }

// ChargeStoredCard charges the card that paid the fee, and ends an open payment page. A repeated attempt
// returns its first answer.
func (p *Provider) ChargeStoredCard(ctx context.Context, r paymentports.CollectRequest) (paymentports.ProviderPayment,
	error) {
	r.Attempt = max(r.Attempt, 1)
	card, err := p.cardFailure(ctx, r.FeePaymentID)
	if err != nil {
		return paymentports.ProviderPayment{}, err
	}
	var out entry
	err = pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `
			INSERT INTO sandbox_payments (id, ref, amount_cents, description, return_url, status)
			VALUES ($1, $2, $3, $4, '', 'failed')
			ON CONFLICT (id) DO NOTHING`, [16]byte(r.PaymentID), p.newRef(), int64(r.Amount), r.Description); err != nil {
			return err
		}
		found, err := scan(tx.QueryRow(ctx, findByID+` FOR UPDATE`, [16]byte(r.PaymentID)))
		if out = found; err != nil {
			return err
		}
		switch {
		case out.status == paymentports.ProviderPaymentClosed, out.status == paymentports.ProviderPaymentSucceeded:
			return nil
		case out.amount != r.Amount:
			return fault.ErrInternal.WithCause(errKeyReused)
		case r.Attempt <= out.attempt:
			out.status = paymentports.ProviderPaymentFailed
			return nil
		}
		out.attempt = r.Attempt
		out.status, out.failure = paymentports.ProviderPaymentSucceeded, ""
		if out.failure = card; out.failure != "" {
			out.status = paymentports.ProviderPaymentFailed
		}
		out.refusal = refusals[out.failure]
		_, err = tx.Exec(ctx,
			`UPDATE sandbox_payments SET status = $2, failure = $3, refusal = $4, attempt = $5, updated_at = now()
				WHERE id = $1`,
			[16]byte(r.PaymentID), string(out.status), out.failure, string(out.refusal), out.attempt)
		return err
	})
	if err != nil {
		if errors.Is(err, errKeyReused) {
			return paymentports.ProviderPayment{}, err
		}
		return paymentports.ProviderPayment{}, unavailable(err)
	}
	return out.payment(), nil
}

// cardFailure returns the code with which the card of the fee refuses a charge; "" if it accepts.
func (p *Provider) cardFailure(ctx context.Context, feePaymentID id.ID) (string, error) {
	fee, err := p.byID(ctx, feePaymentID)
	switch {
	case errors.Is(err, pgx.ErrNoRows), err == nil && fee.status != paymentports.ProviderPaymentSucceeded:
		return failureNoCard, nil
	}
	return fee.card, err
}
