package payments

import (
	"cmp"
	"context"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
)

// SettleFee ends the deposit's fee payment in flight, if any: the provider closes the page, and the provider's
// response is recorded, which may secure the deposit. A use case calls SettleFee before it ends a checkout.
// Afterwards, holding the deposit's lock, it checks that no fee payment is in flight.
//
// Returns service_unavailable when the provider cannot be reached or cannot stop the payment; nothing is recorded
// then.
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

// closeFee closes the page of a payment in flight at the provider, and records the provider's response.
func (s *Service) closeFee(ctx context.Context, payment deposit.Payment, now time.Time) error {
	answer, err := s.provider.close(ctx, payment.ID)
	if err != nil {
		return s.providerFailed(payment.Kind, err)
	}
	return s.recordFee(ctx, payment, answer, now)
}

// ConfirmFeePayment queries the provider about the deposit's fee payment in flight, if any, and records the result.
// ends: true closes an unpaid page, so that the tenant's next try is a new payment; false keeps it open.
//
// Returns service_unavailable when the provider cannot be reached; nothing is recorded then.
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

// recordFee stores the provider's response about a fee payment, and the transition that follows from it, in
// one transaction. A payment that another caller has settled stays as it is.
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
		// A deposit that this payment secured is announced to the operator by mail.
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

// feeEffect is what a settled fee changes in its deposit.
type feeEffect int

const (
	feeStays feeEffect = iota // The fee leaves the status of its deposit unchanged.
	// The fee causes a transition of its deposit, by the trigger that decideFee returns.
	feeMoves
	feeOrphaned // The deposit can no longer be secured, and the paid fee is refunded.
)

// decideFee returns the trigger that follows from a settled fee. at is the provider's time of the payment: a
// fee that was paid before the stay ended secures the deposit, even if this service learns of it later. After
// a failure, a deposit in payment_issue stays there, and so does every deposit once its stay is over.
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
