package payments

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/payments/internal/sqlc"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
)

// Raise stores that the payment provider is to be queried about a payment, by a single SQL statement.
func (s Questions) Raise(ctx context.Context, n paymentports.Callback, questionID id.ID, now time.Time) error {
	return queries.RaiseQuestion(ctx, s.DB, sqlc.RaiseQuestionParams{
		ID: questionID, PaymentID: n.PaymentID, ProviderRef: n.ProviderRef, Dispute: n.Dispute, At: now,
	})
}

func (s Questions) QuestionsDue(
	ctx context.Context, now time.Time, waits []time.Duration, limit int,
) ([]paymentports.PaymentQuestion, error) {
	rows, err := queries.QuestionsDue(ctx, s.DB, now, waits, limit)
	return pg.Each(rows, func(row sqlc.QuestionsDueRow) paymentports.PaymentQuestion {
		return paymentports.PaymentQuestion(row)
	}), err
}

func (s Questions) Answered(ctx context.Context, q paymentports.PaymentQuestion) error {
	return queries.DropQuestion(ctx, s.DB, q.ID, q.Callbacks)
}

// Keep stores a dispute about a payment, and returns the dispute as it was before. The payment's row is locked, so
// that two processes do not notify of the same change.
func (r Disputes) Keep(ctx context.Context, d paymentports.Dispute, now time.Time) (
	before *paymentports.KeptDispute, about paymentports.DisputeSubject, ok bool, err error,
) {
	of, err := queries.DisputedPayment(ctx, pg.In(ctx), d.PaymentID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, about, false, nil
	}
	if err != nil {
		return nil, about, false, err
	}
	about = paymentports.DisputeSubject{
		Operator: connect.Operator{ID: of.OperatorID, Email: of.Email, Locale: of.Locale}, Verified: of.Verified,
		Kind: string(of.Kind),
		Deposit: paymentports.DisputedDeposit{
			ID: of.DepositID, Reference: of.Reference, RentalContract: of.RentalContract,
		},
	}
	kept, err := queries.DisputeByRef(ctx, pg.In(ctx), d.Ref)
	switch {
	case err == nil:
		before = &paymentports.KeptDispute{DepositID: of.DepositID, Dispute: paymentports.Dispute{
			Ref: d.Ref, PaymentID: d.PaymentID, Amount: kept.Amount, Reason: kept.Reason, Status: kept.Status,
			EvidenceDueBy: kept.EvidenceDueBy, CreatedAt: kept.CreatedAt,
		}}
	case !errors.Is(err, pgx.ErrNoRows):
		return nil, about, false, err
	}
	err = queries.SaveDispute(ctx, pg.In(ctx), sqlc.SaveDisputeParams{
		Ref: d.Ref, PaymentID: d.PaymentID, DepositID: of.DepositID, Amount: d.Amount, Reason: d.Reason,
		Status: d.Status, EvidenceDueBy: d.EvidenceDueBy, CreatedAt: d.CreatedAt, ChangedAt: now,
	})
	return before, about, true, err
}

func (r Disputes) DisputesOf(ctx context.Context, depositID id.ID) ([]paymentports.KeptDispute, error) {
	rows, err := queries.DisputesOf(ctx, r.DB, depositID)
	return pg.Each(rows, func(row sqlc.DisputesOfRow) paymentports.KeptDispute {
		return paymentports.KeptDispute{DepositID: depositID, Dispute: paymentports.Dispute(row)}
	}), err
}
