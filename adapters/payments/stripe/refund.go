package stripe

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stripe/stripe-go/v85"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	paymentports "partnerdeposits/ports/payments"
	"partnerdeposits/ports/platform/failpoint"
)

// Failure codes of refunds that this adapter sets itself.
const (
	failureNotPaid  = "charge_not_paid"
	failureTooLarge = "amount_too_large"
	failureRefund   = "refund_failed"
)

// refundFailures are the failure codes of Stripe that are passed on unchanged. Any other code becomes
// refund_failed.
var refundFailures = map[string]bool{
	"charge_already_refunded": true, "charge_disputed": true, "expired_or_canceled_card": true,
	"lost_or_stolen_card": true, "insufficient_funds": true,
	"declined": true, "merchant_request": true, "charge_for_pending_refund_disputed": true,
}

type refundRow struct {
	payment         id.ID
	amount          money.Cents
	number          int
	request         string
	ref, failure    string
	firstAt, lastAt time.Time
}

// Refund refunds a part of a paid payment. A repeated request with the same refund id does not refund twice.
func (p *Provider) Refund(ctx context.Context, r paymentports.RefundRequest) (paymentports.ProviderRefund, error) {
	row, err := p.store.refund(ctx, r.RefundID)
	if err != nil {
		return paymentports.ProviderRefund{}, err
	}
	if row == nil {
		state, err := p.LookupPayment(ctx, r.PaymentID)
		if err != nil {
			return paymentports.ProviderRefund{}, err
		}
		if state.Status != paymentports.ProviderPaymentSucceeded {
			return paymentports.ProviderRefund{Status: paymentports.RefundFailed, Failure: failureNotPaid}, nil
		}
		if row, err = p.store.addRefund(ctx, r, refundRequest(r, state.Ref), p.clock.Now()); err != nil {
			return paymentports.ProviderRefund{}, err
		}
	}
	if row.payment != r.PaymentID || row.amount != r.Amount {
		return paymentports.ProviderRefund{}, fault.ErrInternal.WithCause(errKeyReused)
	}
	for range maxSteps {
		switch {
		case row.failure != "":
			return paymentports.ProviderRefund{Status: paymentports.RefundFailed, Failure: row.failure}, nil
		case row.ref != "":
			var found stripe.Refund
			if err := p.api.get(ctx, refundsPath+"/"+row.ref, url.Values{}, &found); err != nil {
				return paymentports.ProviderRefund{}, p.failed(ctx, err)
			}
			return ofRefund(&found), row.check(r.RefundID, &found)
		}
		if err := p.sendRefund(ctx, r, row); err != nil {
			return paymentports.ProviderRefund{}, err
		}
		if row, err = p.store.refund(ctx, r.RefundID); err != nil {
			return paymentports.ProviderRefund{}, err
		}
	}
	return paymentports.ProviderRefund{}, answered(errContended)
}

func ofRefund(r *stripe.Refund) paymentports.ProviderRefund {
	switch r.Status {
	case stripe.RefundStatusSucceeded:
		return paymentports.ProviderRefund{Status: paymentports.RefundSucceeded, Ref: r.ID}
	case stripe.RefundStatusFailed, stripe.RefundStatusCanceled:
		return paymentports.ProviderRefund{Status: paymentports.RefundFailed, Ref: r.ID,
			Failure: refundFailure(string(r.FailureReason), failureRefund)}
	}
	return paymentports.ProviderRefund{Status: paymentports.RefundPending, Ref: r.ID}
}

func refundFailure(code, otherwise string) string {
	if refundFailures[code] {
		return code
	}
	return otherwise
}

// sendRefund sends the stored request for a refund to Stripe and stores the result.
func (p *Provider) sendRefund(ctx context.Context, r paymentports.RefundRequest, row *refundRow) error {
	now := p.clock.Now()
	if now.Sub(row.firstAt) >= keyLife {
		return p.findRefund(ctx, r, row, now.Sub(row.firstAt) >= lateness)
	}
	if err := p.store.exec(ctx, `UPDATE stripe_refunds SET last_at = greatest(last_at, $2) WHERE id = $1`,
		[16]byte(r.RefundID), now); err != nil {
		return err
	}
	var made stripe.Refund
	_, err := p.api.send(ctx, request{
		call: "refund", method: http.MethodPost, path: refundsPath, key: refundKey(r.RefundID, row.number), body: row.request,
	}, &made)
	no := asRefused(err)
	switch {
	case err == nil:
		if err := row.check(r.RefundID, &made); err != nil {
			return err
		}
		return p.store.refunded(ctx, r.RefundID, made.ID, "")
	case no == nil:
		return err
	case no.spent():
		return p.findRefund(ctx, r, row, true)
	case no.definite() && no.code == "charge_already_refunded" && row.number > 1:
		return p.findRefund(ctx, r, row, true)
	case no.definite():
		code := refundFailure(no.code, failureRefund)
		if no.param == "amount" {
			code = failureTooLarge
		}
		return p.store.refunded(ctx, r.RefundID, "", code)
	}
	return p.failed(ctx, no)
}

// findRefund searches Stripe for a refund whose request is too old to repeat. over reports that a refund which
// is not found is requested under another key.
func (p *Provider) findRefund(ctx context.Context, r paymentports.RefundRequest, row *refundRow, over bool) error {
	paid, err := p.store.load(ctx, r.PaymentID)
	if err != nil {
		return err
	}
	ref := ""
	err = eachRefund(ctx, p.api, url.Values{"payment_intent": {paid.paidRef}}, func(found *stripe.Refund) bool {
		if found.Metadata[metaRefund] == r.RefundID.String() {
			ref = found.ID
		}
		return ref == ""
	})
	switch {
	case err != nil:
		return p.failed(ctx, err)
	case ref != "":
		return p.store.refunded(ctx, r.RefundID, ref, "")
	case !over:
		return fault.ErrUnavailable.WithCause(errUnanswered)
	}
	return p.store.exec(ctx,
		`UPDATE stripe_refunds SET number = number + 1, first_at = $2, last_at = $2 WHERE id = $1 AND number = $3 AND ref = ''
			AND failure = ''`,
		[16]byte(r.RefundID), p.clock.Now(), row.number)
}

// refund returns a stored refund from the table stripe_refunds; nil if none.
func (s store) refund(ctx context.Context, refundID id.ID) (*refundRow, error) {
	var r refundRow
	err := s.pool.QueryRow(ctx,
		`SELECT payment_id, amount_cents, number, request, ref, failure, first_at, last_at FROM stripe_refunds WHERE id = $1`,
		[16]byte(refundID)).
		Scan((*[16]byte)(&r.payment), (*int64)(&r.amount), &r.number, &r.request, &r.ref, &r.failure, &r.firstAt, &r.lastAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, unavailable(err)
	}
	return &r, nil
}

// addRefund stores a refund before its request is sent to Stripe.
func (s store) addRefund(ctx context.Context, r paymentports.RefundRequest, request string,
	now time.Time) (*refundRow, error) {
	err := s.exec(ctx, `
		INSERT INTO stripe_refunds (id, payment_id, amount_cents, request, first_at, last_at) VALUES ($1, $2, $3, $4, $5, $5)
		ON CONFLICT (id) DO NOTHING`,
		[16]byte(r.RefundID), [16]byte(r.PaymentID), int64(r.Amount), request, now)
	if err != nil {
		return nil, err
	}
	failpoint.Hit("payment.refund.committed")
	return s.refund(ctx, r.RefundID)
}

// refunded stores the result of a refund: Stripe's id, or the code with which Stripe refused it.
func (s store) refunded(ctx context.Context, refundID id.ID, ref, failure string) error {
	return s.exec(ctx, `UPDATE stripe_refunds SET ref = $2, failure = $3 WHERE id = $1 AND ref = '' AND failure = ''`,
		[16]byte(refundID), ref, failure)
}

// check returns errForeign unless Stripe's response is about the refund of this row.
func (row *refundRow) check(refundID id.ID, r *stripe.Refund) error {
	if r.Object != "refund" || !named(r.ID, "re_", row.ref) || r.Metadata[metaRefund] != refundID.String() ||
		money.Cents(r.Amount) != row.amount || r.Currency != currency {
		return errForeign
	}
	return nil
}
