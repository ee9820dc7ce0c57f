package checkout

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

// endTries is how often ending a checkout makes way for a payment that was begun meanwhile.
const endTries = 5

// SettleFee makes sure that no fee payment of the deposit is under way: an open page is closed and the provider's word
// recorded, which may secure the deposit. Who ends a checkout calls it first and then, holding the deposit's lock,
// looks that Payments.UnderWay gives nil.
//
// Returns service_unavailable when the provider cannot be asked or cannot stop the payment; nothing was decided then.
func (s *Service) SettleFee(ctx context.Context, depositID id.ID) error {
	return s.settleFee(ctx, depositID, s.deps.Clock.Now())
}

func (s *Service) settleFee(ctx context.Context, depositID id.ID, now time.Time) error {
	payment, err := s.feeUnderWay(ctx, depositID)
	if err != nil || payment == nil {
		return err
	}
	answer, err := s.deps.Provider.Close(ctx, payment.ID)
	if err != nil {
		return err
	}
	return s.record(ctx, *payment, answer, now)
}

// preparation is what an ending changes on the locked deposit before the step.
type preparation func(ctx context.Context, repos ports.Repositories, d *deposit.Deposit) error

// end takes a deposit out of checkout by trigger, once no payment is under way. prepare may be nil.
//
// Returns deposit.ErrNotCancellable where the checkout was over already.
func (s *Service) end(ctx context.Context, depositID id.ID, trigger deposit.Trigger, now time.Time, prepare preparation) error {
	for range endTries {
		if err := s.settleFee(ctx, depositID, now); err != nil {
			return err
		}
		err := s.transact(ctx, func(ctx context.Context, repos ports.Repositories) (deposit.Transition, error) {
			return s.endUnpaid(ctx, repos, depositID, trigger, now, prepare)
		})
		if !errors.Is(err, ports.ErrPaymentUnderWay) {
			return err
		}
	}
	return errBusy
}

// endUnpaid returns ports.ErrPaymentUnderWay where a payment was begun since the last was settled.
func (s *Service) endUnpaid(ctx context.Context, repos ports.Repositories, depositID id.ID, trigger deposit.Trigger, now time.Time, prepare preparation) (deposit.Transition, error) {
	d, err := repos.Deposits.ForUpdate(ctx, depositID)
	if err != nil {
		return deposit.Transition{}, err
	}
	if _, err := d.Status.Next(trigger); err != nil {
		return deposit.Transition{}, err
	}
	underWay, err := repos.Payments.UnderWay(ctx, depositID, deposit.FeePayment)
	if err != nil {
		return deposit.Transition{}, err
	}
	if underWay != nil {
		return deposit.Transition{}, ports.ErrPaymentUnderWay
	}
	if prepare != nil {
		if err := prepare(ctx, repos, d); err != nil {
			return deposit.Transition{}, err
		}
	}
	return s.move(ctx, repos, d, trigger, now)
}

// record writes down what the provider said of a fee payment, and the step it leads to, in one transaction. Whoever
// comes second finds it done.
//
// Returns service_unavailable for an answer that settles nothing.
func (s *Service) record(ctx context.Context, p deposit.Payment, answer ports.ProviderPayment, now time.Time) error {
	if answer.Status == ports.ProviderOpen {
		return errBusy
	}
	orphaned := false
	err := s.transact(ctx, func(ctx context.Context, repos ports.Repositories) (deposit.Transition, error) {
		d, err := repos.Deposits.ForUpdate(ctx, p.DepositID)
		if err != nil {
			return deposit.Transition{}, err
		}
		current, err := repos.Payments.UnderWay(ctx, p.DepositID, deposit.FeePayment)
		if err != nil || current == nil || current.ID != p.ID {
			return deposit.Transition{}, err
		}
		settle(current, answer, now)
		trigger, moves := consequence(current.Status, d.Status)
		if _, err := d.Status.Next(trigger); moves && err != nil {
			orphaned = true
			return deposit.Transition{}, s.orphan(ctx, repos, d, *current, now)
		}
		if err := repos.Payments.Update(ctx, *current); err != nil || !moves {
			return deposit.Transition{}, err
		}
		return s.move(ctx, repos, d, trigger, now)
	})
	if err == nil && orphaned {
		s.deps.Log.ErrorContext(ctx, "a fee was settled on a deposit that is out of checkout: look into it by hand",
			"deposit", id.Deposit.Of(p.DepositID), "payment", id.Payment.Of(p.ID))
	}
	return err
}

// settle ends a payment as the provider says. What it closed or never heard of can never be paid.
func settle(p *deposit.Payment, answer ports.ProviderPayment, now time.Time) {
	switch answer.Status {
	case ports.ProviderSucceeded:
		p.Status = deposit.PaymentSucceeded
	case ports.ProviderFailed:
		p.Status = deposit.PaymentFailed
	case ports.ProviderClosed, ports.ProviderUnknown, ports.ProviderOpen:
		p.Status = deposit.PaymentVoided
	}
	if answer.Ref != "" {
		p.ProviderRef = answer.Ref
	}
	p.Failure, p.SettledAt = answer.Failure, now
}

// consequence is the step that a settled fee leads to. A second failure leaves the deposit in payment_issue.
func consequence(p deposit.PaymentStatus, d deposit.Status) (t deposit.Trigger, moves bool) {
	switch {
	case p == deposit.PaymentSucceeded:
		return deposit.Secured, true
	case p == deposit.PaymentFailed && d != deposit.PaymentIssue:
		return deposit.FeeFailed, true
	default:
		return "", false
	}
}

// orphan keeps a payment that the invariant of this package rules out, with a note for the operator, rather than lose it.
func (s *Service) orphan(ctx context.Context, repos ports.Repositories, d *deposit.Deposit, p deposit.Payment, now time.Time) error {
	p.Failure = "settled while the deposit was " + string(d.Status) + ": check with the provider, refund if it was paid"
	if err := repos.Payments.Update(ctx, p); err != nil {
		return err
	}
	return repos.Audit.Append(ctx, ports.AuditEntry{
		ID: s.deps.Entropy.NewID(), At: now, Actor: actor, Action: "payment.orphaned", Subject: id.Deposit.Of(d.ID),
		Detail: map[string]string{"payment": id.Payment.Of(p.ID), "status": string(p.Status), "amountCents": cents(p.Amount)},
	})
}
