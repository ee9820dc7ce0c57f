package payments

import (
	"context"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
)

// BeginCollection inserts the payment for a captured amount, in the transaction of the capture; the dispatcher
// makes the charge (api.md §3).
func (s *Service) BeginCollection(ctx context.Context, captured *deposit.Deposit, now time.Time) (deposit.Debt, error) {
	payment := deposit.NewCollectionPayment(s.deps.Entropy.NewID(), captured, s.deps.Schedule, now)
	return deposit.NewDebt(payment, s.deps.Schedule), s.deps.Payments.Insert(ctx, payment)
}

// FirstChargeTime returns the time of the card charge for a capture now.
func (s *Service) FirstChargeTime(now time.Time) time.Time {
	return deposit.NewDebt(deposit.Payment{CreatedAt: now}, s.deps.Schedule).NextAttemptAt
}

// LockFeeInFlight locks and returns the processing fee payment; nil for none.
func (s *Service) LockFeeInFlight(ctx context.Context, depositID id.ID) (*deposit.Payment, error) {
	return s.deps.Payments.LockProcessing(ctx, depositID, deposit.PaymentKindFee)
}
