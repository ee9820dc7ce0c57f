package payments

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/app/deposits/lifecycle"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
)

// The most payments that EndCheckout settles, since the tenant may keep opening new pages.
const maxSettlements = 5

// EndCheckout settles a fee payment in flight and then ends the checkout by trigger. prepare, which may be nil,
// runs in the same transaction.
//
// Returns deposit.ErrNotCancellable when the checkout had ended already, or service_unavailable when the payment
// cannot be stopped.
func (s *Service) EndCheckout(ctx context.Context, depositID id.ID, trigger deposit.Trigger,
	prepare lifecycle.PrepareDepositFunc,
	now time.Time) error {
	for range maxSettlements {
		if err := s.settleFee(ctx, depositID, now); err != nil {
			return err
		}
		err := s.deps.Transitions.RunInTx(ctx, func(ctx context.Context) (deposit.Transition, error) {
			return s.endUnpaid(ctx, depositID, trigger, prepare, now)
		})
		if !errors.Is(err, paymentports.ErrPaymentExists) {
			return err
		}
	}
	return errPaymentOpen
}

// endUnpaid ends a checkout without a payment in flight.
//
// Returns paymentports.ErrPaymentExists when another payment has begun since settleFee.
func (s *Service) endUnpaid(ctx context.Context, depositID id.ID, trigger deposit.Trigger,
	prepare lifecycle.PrepareDepositFunc,
	now time.Time) (deposit.Transition, error) {
	d, err := s.deps.Deposits.LockRow(ctx, depositID)
	if err != nil {
		return deposit.Transition{}, err
	}
	if _, err := d.Status.Next(trigger); err != nil {
		return deposit.Transition{}, err
	}
	inFlight, err := s.deps.Payments.LockProcessing(ctx, depositID, deposit.PaymentKindFee)
	if err != nil {
		return deposit.Transition{}, err
	}
	if inFlight != nil {
		return deposit.Transition{}, paymentports.ErrPaymentExists
	}
	if prepare != nil {
		if err := prepare(ctx, d); err != nil {
			return deposit.Transition{}, err
		}
	}
	return s.deps.Transitions.ApplyTrigger(ctx, d, trigger, now)
}
