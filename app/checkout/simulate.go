package checkout

import (
	"context"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/ports"
)

// Simulation is what a partner may make happen to its own deposit outside production (api.md §2).
type Simulation string

// The simulations.
const (
	SimulateStart       Simulation = "start"
	SimulateActivate    Simulation = "activate"
	SimulateDecline     Simulation = "decline"
	SimulateAbandon     Simulation = "abandon"
	SimulateFailPayment Simulation = "fail_payment"
	SimulateExpire      Simulation = "expire"
)

// Simulate does what a tenant, or time, would do. Payments go through the provider like any other.
//
// Returns fault.ErrRoute where payments cannot be simulated, invalid_field for an unknown outcome, deposit.ErrNotFound,
// deposit.ErrAccessDenied, and the fault of the transition where the status does not allow it.
func (s *Service) Simulate(ctx context.Context, partnerID, depositID id.ID, outcome Simulation) (*deposit.Deposit, error) {
	if s.deps.Simulator == nil {
		return nil, fault.ErrRoute
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

func (s *Service) simulate(ctx context.Context, d *deposit.Deposit, outcome Simulation) error {
	now := s.deps.Clock.Now()
	switch outcome {
	case SimulateStart:
		return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) error {
			d, err := repos.Deposits.ForUpdate(ctx, d.ID)
			if err != nil {
				return err
			}
			if _, err := d.Status.Next(deposit.Secured); err != nil {
				return err
			}
			return markStarted(ctx, repos, d, now)
		})
	case SimulateActivate:
		return s.simulatePayment(ctx, d, deposit.Secured, now)
	case SimulateFailPayment:
		return s.simulatePayment(ctx, d, deposit.FeeFailed, now)
	case SimulateDecline:
		return s.end(ctx, d.ID, deposit.TenantDeclined, now, nil)
	case SimulateAbandon:
		return s.end(ctx, d.ID, deposit.TenantAbandoned, now, nil)
	case SimulateExpire:
		if d.Status.InCheckout() || d.Status == deposit.Cancelled {
			return s.end(ctx, d.ID, deposit.CheckoutExpired, now, nil)
		}
		return s.transact(ctx, func(ctx context.Context, repos ports.Repositories) (deposit.Transition, error) {
			d, err := repos.Deposits.ForUpdate(ctx, d.ID)
			if err != nil {
				return deposit.Transition{}, err
			}
			return s.move(ctx, repos, d, deposit.CoverageElapsed, now)
		})
	default:
		return fault.ErrInvalidField.WithField("outcome", "must be start, activate, decline, abandon, fail_payment or expire")
	}
}

// simulatePayment pays, or fails to pay, at the provider, and records its word. A payment that a tenant left behind may
// turn out to be over; then another one is begun.
func (s *Service) simulatePayment(ctx context.Context, d *deposit.Deposit, want deposit.Trigger, now time.Time) error {
	tokens, err := s.deps.Deposits.CheckoutTokens(ctx, []id.ID{d.ID})
	if err != nil {
		return err
	}
	for range endTries {
		to, err := d.Status.Next(want)
		if err != nil {
			return err
		}
		if err := s.payOnce(ctx, d, want == deposit.Secured, tokens[d.ID], now); err != nil {
			return err
		}
		if d, err = s.deps.Deposits.Deposit(ctx, d.ID); err != nil || d.Status == to {
			return err
		}
	}
	return errBusy
}

func (s *Service) payOnce(ctx context.Context, d *deposit.Deposit, succeeds bool, token secret.Text, now time.Time) error {
	if _, err := s.openPage(ctx, d, nil, token, now); err != nil {
		return err
	}
	payment, err := s.feeUnderWay(ctx, d.ID)
	if err != nil || payment == nil { // somebody else settled it meanwhile
		return err
	}
	if err := s.deps.Simulator.SimulatePayment(ctx, payment.ID, succeeds); err != nil {
		return err
	}
	return s.settleFee(ctx, d.ID, now)
}
