package payments

import (
	"context"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
)

// SimulatedEvent is an event that a partner may simulate on its deposit outside production (api.md §2).
type SimulatedEvent string

const (
	SimulatedCheckoutStart  SimulatedEvent = "start"
	SimulatedActivation     SimulatedEvent = "activate"
	SimulatedRefusal        SimulatedEvent = "decline"
	SimulatedAbandonment    SimulatedEvent = "abandon"
	SimulatedPaymentFailure SimulatedEvent = "fail_payment"
	SimulatedExpiry         SimulatedEvent = "expire"
)

// Simulate acts as the tenant, or as passing time, on a deposit. Simulated payments go through the provider like
// real ones.
//
// Returns fault.ErrRouteNotFound when payments cannot be simulated, invalid_field for an unknown outcome,
// deposit.ErrNotFound, deposit.ErrAccessDenied, or the fault of the transition.
func (s *Service) Simulate(ctx context.Context, partnerID, depositID id.ID,
	outcome SimulatedEvent) (*deposit.Deposit, error) {
	if s.deps.Simulator == nil {
		return nil, fault.ErrRouteNotFound
	}
	d, err := s.deps.Deposits.Deposit(ctx, depositID)
	if err != nil {
		return nil, err
	}
	if d.PartnerID != partnerID || !d.ByPartnerAPI {
		return nil, deposit.ErrAccessDenied
	}
	if err := s.simulate(ctx, d, outcome); err != nil {
		return nil, err
	}
	return s.deps.Deposits.Deposit(ctx, depositID)
}

func (s *Service) simulate(ctx context.Context, d *deposit.Deposit, outcome SimulatedEvent) error {
	now := s.deps.Clock.Now()
	way, trigger := decideSimulation(outcome, d.Status)
	switch way {
	case byStart:
		return s.simulateStart(ctx, d.ID, now)
	case byPayment:
		return s.simulatePayment(ctx, d, trigger)
	case byEnd:
		return s.EndCheckout(ctx, d.ID, trigger, nil, now)
	case byTime:
		_, err := s.deps.Transitions.ApplyTriggerIf(ctx, d.ID, trigger, now, func(*deposit.Deposit) bool { return true })
		return err
	case byNothing:
	}
	return fault.ErrInvalidField.WithField("outcome", "must be start, activate, decline, abandon, fail_payment or expire")
}

type way int

const (
	byNothing way = iota // The simulated event is unknown.
	byStart              // The simulation opens the checkout as the tenant.
	byPayment            // The simulation makes the provider settle a payment.
	byEnd                // The simulation ends the checkout without a payment.
	byTime               // The simulation lets the time of the cover pass.
)

// decideSimulation returns a simulation's means and trigger, whatever the deposit's status allows.
func decideSimulation(outcome SimulatedEvent, status deposit.Status) (way, deposit.Trigger) {
	switch outcome {
	case SimulatedCheckoutStart:
		return byStart, ""
	case SimulatedActivation:
		return byPayment, deposit.TriggerSecured
	case SimulatedPaymentFailure:
		return byPayment, deposit.TriggerFeeFailed
	case SimulatedRefusal:
		return byEnd, deposit.TriggerTenantDeclined
	case SimulatedAbandonment:
		return byEnd, deposit.TriggerTenantAbandoned
	case SimulatedExpiry:
		if status.InCheckout() || status == deposit.Cancelled {
			return byEnd, deposit.TriggerCheckoutExpired
		}
		return byTime, deposit.TriggerCoverElapsed
	default:
		return byNothing, ""
	}
}

func (s *Service) simulateStart(ctx context.Context, depositID id.ID, now time.Time) error {
	return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		d, err := s.deps.Deposits.LockRow(ctx, depositID)
		if err != nil {
			return err
		}
		if _, err := d.Status.Next(deposit.TriggerSecured); err != nil {
			return err
		}
		return s.deps.Transitions.RecordCheckoutStep(ctx, d, now)
	})
}

// simulatePayment makes payments at the provider until the deposit has the wanted status. If the one in flight is
// over or late, another is begun.
func (s *Service) simulatePayment(ctx context.Context, d *deposit.Deposit, want deposit.Trigger) error {
	tokens, err := s.deps.Deposits.CheckoutTokens(ctx, []id.ID{d.ID})
	if err != nil {
		return err
	}
	for range maxSettlements {
		to, err := d.Status.Next(want)
		if err != nil {
			return err
		}
		if err := s.payOnce(ctx, d, want == deposit.TriggerSecured, tokens[d.ID], s.deps.Clock.Now()); err != nil {
			return err
		}
		if d, err = s.deps.Deposits.Deposit(ctx, d.ID); err != nil || d.Status == to {
			return err
		}
	}
	return errPaymentOpen
}

func (s *Service) payOnce(ctx context.Context, d *deposit.Deposit, succeeds bool, token secret.Text,
	now time.Time) error {
	payment, _, err := s.openFee(ctx, d, token, nil, nil, now)
	if err != nil {
		return err
	}
	if err := s.deps.Simulator.SimulatePayment(ctx, payment.ID, succeeds); err != nil {
		return err
	}
	// A payment that another caller has settled meanwhile is not settled again.
	return s.closeFee(ctx, payment, now)
}
