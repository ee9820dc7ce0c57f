package payments

import (
	"cmp"
	"context"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
)

// SettleFee closes the page of a fee payment in flight and records the provider's response, which may secure the
// deposit. Before ending a checkout, call SettleFee, then check under the lock that none is in flight.
//
// Returns service_unavailable when the provider cannot be reached or cannot stop the payment.
func (s *Service) SettleFee(ctx context.Context, depositID id.ID) error {
	return s.settleFee(ctx, depositID, s.deps.Clock.Now())
}

func (s *Service) settleFee(ctx context.Context, depositID id.ID, now time.Time) error {
	payment, err := s.feeInFlight(ctx, depositID)
	if err != nil || payment == nil {
		return err
	}
	return s.closeFee(ctx, *payment, now)
}

// closeFee closes a payment's page and records the provider's response.
func (s *Service) closeFee(ctx context.Context, payment deposit.Payment, now time.Time) error {
	answer, err := s.provider.close(ctx, payment.ID)
	if err != nil {
		return s.providerFailed(payment.Kind, err)
	}
	return s.recordFee(ctx, payment, answer, now)
}

// ConfirmFeePayment records the provider's result of a fee payment in flight. ends closes an unpaid page, so that
// the next try is a new payment.
//
// Returns service_unavailable when the provider cannot be reached.
func (s *Service) ConfirmFeePayment(ctx context.Context, depositID id.ID, ends bool, now time.Time) error {
	payment, err := s.feeInFlight(ctx, depositID)
	if err != nil || payment == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	answer, err := s.provider.lookup(ctx, payment.ID)
	if err == nil && undecided(answer.Status) {
		if !ends {
			return nil
		}
		answer, err = s.provider.close(ctx, payment.ID)
	}
	if err != nil {
		return s.providerFailed(deposit.PaymentKindFee, err)
	}
	return s.recordFee(ctx, *payment, answer, now)
}

// recordFee stores the provider's response about a fee with the transition that follows, unless another caller has.
//
// Returns service_unavailable when the page is still open.
func (s *Service) recordFee(ctx context.Context, p deposit.Payment, answer paymentports.ProviderPayment,
	now time.Time) error {
	if answer.Status == paymentports.ProviderPaymentOpen {
		return errPaymentOpen
	}
	orphaned, settled := false, false
	err := s.deps.Transitions.RunInTx(ctx, func(ctx context.Context) (deposit.Transition, error) {
		orphaned, settled = false, false
		d, err := s.deps.Deposits.LockRow(ctx, p.DepositID)
		if err != nil {
			return deposit.Transition{}, err
		}
		current, err := s.stillInFlight(ctx, p)
		if err != nil || current == nil {
			return deposit.Transition{}, err
		}
		settled = true
		settle(current, answer, now)
		trigger, next := decideFee(current.Status, d, cmp.Or(answer.PaidAt, now))
		if orphaned = next == feeOrphaned; orphaned {
			return deposit.Transition{}, s.keepOrphan(ctx, d, *current, now)
		}
		if err := s.deps.Payments.Update(ctx, *current); err != nil || next == feeStays {
			return deposit.Transition{}, err
		}
		// The operator is mailed about a deposit that this payment secured.
		if trigger == deposit.TriggerSecured {
			if err := s.deps.OperatorNotices.AddSecuredNotice(ctx, d.ID, now); err != nil {
				return deposit.Transition{}, err
			}
		}
		return s.deps.Transitions.ApplyTrigger(ctx, d, trigger, now)
	})
	if err == nil && settled {
		s.deps.PaymentMetrics.CountResult(p.Kind, resultOf(answer.Status), p.Amount)
	}
	if err == nil && orphaned {
		s.warnOrphan(ctx, p)
	}
	return err
}

type feeEffect int

const (
	feeStays feeEffect = iota // The fee leaves the deposit's status as it is.
	feeMoves
	feeOrphaned // The deposit can no longer be secured, so the fee is refunded.
)

// decideFee returns the trigger that follows from a settled fee. A fee paid before the stay ended, by the
// provider's time, secures the deposit; after the stay a failure changes nothing.
func decideFee(fee deposit.PaymentStatus, d *deposit.Deposit, at time.Time) (deposit.Trigger, feeEffect) {
	open := d.CheckoutOpen(at)
	switch {
	case fee == deposit.PaymentSucceeded && open:
		return deposit.TriggerSecured, feeMoves
	case fee == deposit.PaymentSucceeded, fee == deposit.PaymentFailed && !d.Status.InCheckout():
		return "", feeOrphaned
	case fee == deposit.PaymentFailed && open && d.Status != deposit.PaymentIssue:
		return deposit.TriggerFeeFailed, feeMoves
	}
	return "", feeStays
}
