package stripe

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
	"partnerdeposits/ports/platform/failpoint"
)

// attempt is one charge of the saved card (table stripe_attempts).
type attempt struct {
	number int
	// Number of the PaymentIntent at Stripe that the charge belongs to; 0 if there was no card to charge.
	intent int
	try    int
	// Stripe's id of the intent's newest charge before this attempt; a newer charge is this attempt's.
	before   string
	sentAt   time.Time
	charge   string
	answered bool
	failure  string
	refusal  paymentports.ChargeRefusalKind
}

// payment returns the state of a collection whose attempt to charge the card was refused.
func (a *attempt) payment(known *record) paymentports.ProviderPayment {
	return paymentports.ProviderPayment{Status: paymentports.ProviderPaymentFailed, Ref: known.ref(), Failure: a.failure,
		Refusal: a.refusal}
}

const findAttempt = `SELECT attempt, intent, try, before, sent_at, charge, answered, failure, coalesce(refusal, '')
	FROM stripe_attempts WHERE payment_id = $1`

// attempt returns the stored attempt of that number to charge the card; nil if none.
func (s store) attempt(ctx context.Context, paymentID id.ID, number int) (*attempt, error) {
	return s.oneAttempt(ctx, findAttempt+` AND attempt = $2`, [16]byte(paymentID), number)
}

// lastAttempt returns the newest attempt to charge the card; nil if none.
func (s store) lastAttempt(ctx context.Context, paymentID id.ID) (*attempt, error) {
	return s.oneAttempt(ctx, findAttempt+` ORDER BY attempt DESC LIMIT 1`, [16]byte(paymentID))
}

// lastAnswer returns the newest attempt to charge the card if its answer is stored; otherwise nil.
func (s store) lastAnswer(ctx context.Context, paymentID id.ID) (*attempt, error) {
	a, err := s.lastAttempt(ctx, paymentID)
	if a != nil && !a.answered {
		return nil, err
	}
	return a, err
}

func (s store) oneAttempt(ctx context.Context, query string, args ...any) (*attempt, error) {
	var (
		a       attempt
		refusal string
	)
	err := s.pool.QueryRow(ctx, query, args...).Scan(&a.number, &a.intent, &a.try, &a.before, &a.sentAt, &a.charge,
		&a.answered, &a.failure, &refusal)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, unavailable(err)
	}
	a.refusal = paymentports.ChargeRefusalKind(refusal)
	return &a, nil
}

// try stores an attempt to charge the card before its request is sent, unless its answer is stored.
func (s store) try(ctx context.Context, paymentID id.ID, a attempt) error {
	err := s.exec(ctx, `
		INSERT INTO stripe_attempts AS a (payment_id, attempt, intent, try, before, sent_at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (payment_id, attempt) DO UPDATE SET intent = $3, try = $4, before = $5, sent_at = $6
		WHERE NOT a.answered AND (a.intent, a.try) < ($3, $4)`, [16]byte(paymentID), a.number, a.intent, a.try, a.before,
		a.sentAt)
	failpoint.Hit("payment.attempt.committed")
	return err
}

// answer stores the refusal of an attempt to charge the card unless an answer is stored, and returns the stored
// attempt.
func (s store) answer(ctx context.Context, paymentID id.ID, a attempt) (*attempt, error) {
	err := s.exec(ctx, `
		INSERT INTO stripe_attempts AS a (payment_id, attempt, intent, try, before, sent_at, charge, answered, failure,
		refusal)
		VALUES ($1, $2, $3, $4, $5, $6, $7, true, $8, $9)
		ON CONFLICT (payment_id, attempt) DO UPDATE SET charge = $7, answered = true, failure = $8, refusal = $9
		WHERE NOT a.answered`,
		[16]byte(paymentID), a.number, a.intent, a.try, a.before, a.sentAt, a.charge, a.failure, string(a.refusal))
	if err != nil {
		return nil, err
	}
	failpoint.Hit("payment.refusal.committed")
	return s.attempt(ctx, paymentID, a.number)
}
