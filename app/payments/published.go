package payments

import (
	"context"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
)

// BeginCollection inserts the payment that collects the captured amount of a deposit, in the transaction of
// the capture. The dispatcher makes the charge afterwards (api.md §3).
func (s *Service) BeginCollection(ctx context.Context, captured *deposit.Deposit, now time.Time) (deposit.Debt, error) {
	payment := deposit.NewCollectionPayment(s.deps.Entropy.NewID(), captured, s.deps.Schedule, now)
	return deposit.NewDebt(payment, s.deps.Schedule), s.deps.Payments.Insert(ctx, payment)
}

// FirstChargeTime returns the time at which the card is charged for an amount that is captured now.
func (s *Service) FirstChargeTime(now time.Time) time.Time {
	return deposit.NewDebt(deposit.Payment{CreatedAt: now}, s.deps.Schedule).NextAttemptAt
}

// LockFeeInFlight locks and returns the fee payment of a deposit that is processing, in a transaction of the
// caller; nil for none.
func (s *Service) LockFeeInFlight(ctx context.Context, depositID id.ID) (*deposit.Payment, error) {
	return s.deps.Payments.LockProcessing(ctx, depositID, deposit.PaymentKindFee)
}
