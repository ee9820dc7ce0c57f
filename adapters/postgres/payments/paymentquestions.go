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

// RecordCallback stores that the provider is to be queried about a payment.
func (s PaymentLookupStore) RecordCallback(ctx context.Context, n paymentports.Callback, questionID id.ID,
	now time.Time) error {
	return queries.RaiseQuestion(ctx, s.DB, sqlc.RaiseQuestionParams{
		ID: questionID, PaymentID: n.PaymentID, ProviderRef: n.ProviderRef, Dispute: n.Dispute, At: now,
	})
}

func (s PaymentLookupStore) DueQueries(
	ctx context.Context, now time.Time, waits []time.Duration, limit int,
) ([]paymentports.ProviderQuery, error) {
	rows, err := queries.QuestionsDue(ctx, s.DB, now, waits, limit)
	return pg.ConvertEach(rows, func(row sqlc.QuestionsDueRow) paymentports.ProviderQuery {
		return paymentports.ProviderQuery(row)
	}), err
}

func (s PaymentLookupStore) DeleteAnswered(ctx context.Context, q paymentports.ProviderQuery) error {
	return queries.DropQuestion(ctx, s.DB, q.ID, q.Callbacks)
}

// Store stores a dispute and returns it as it was before. The payment's row is locked, so that one process
// notifies of the change.
func (r DisputeStore) Store(ctx context.Context, d paymentports.Dispute, now time.Time) (
	before *paymentports.StoredDispute, about paymentports.DisputeMailData, ok bool, err error,
) {
	of, err := queries.DisputedPayment(ctx, pg.In(ctx), d.PaymentID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, about, false, nil
	}
	if err != nil {
		return nil, about, false, err
	}
	about = paymentports.DisputeMailData{
		Operator: connect.Operator{ID: of.OperatorID, Email: of.Email, Locale: of.Locale}, Verified: of.Verified,
		Kind: string(of.Kind),
		Deposit: paymentports.DisputedDeposit{
			ID: of.DepositID, Reference: of.Reference, RentalContract: of.RentalContract,
		},
	}
	kept, err := queries.DisputeByRef(ctx, pg.In(ctx), d.Ref)
	switch {
	case err == nil:
		before = &paymentports.StoredDispute{DepositID: of.DepositID, Dispute: paymentports.Dispute{
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

func (r DisputeStore) DisputesOfDeposit(ctx context.Context, depositID id.ID) ([]paymentports.StoredDispute, error) {
	rows, err := queries.DisputesOf(ctx, r.DB, depositID)
	return pg.ConvertEach(rows, func(row sqlc.DisputesOfRow) paymentports.StoredDispute {
		return paymentports.StoredDispute{DepositID: depositID, Dispute: paymentports.Dispute(row)}
	}), err
}
