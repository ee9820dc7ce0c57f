package payments

import (
	"context"
	"time"

	"partnerdeposits/app/internal/lifecycle"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/ports"
)

// Simulation names an event that a partner may simulate on its own deposit outside production (api.md §2).
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

// Simulate acts as the tenant, or as passing time, and gives the deposit afterwards. Simulated payments go through the
// provider like real payments.
//
// Returns fault.ErrRoute when payments cannot be simulated, invalid_field for an unknown outcome, deposit.ErrNotFound,
// deposit.ErrAccessDenied, or the fault of the transition that the deposit's status does not allow.
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
		return s.simulateStart(ctx, d.ID, now)
	case SimulateActivate:
		return s.simulatePayment(ctx, d, deposit.Secured, now)
	case SimulateFailPayment:
		return s.simulatePayment(ctx, d, deposit.FeeFailed, now)
	case SimulateDecline:
		return s.EndCheckout(ctx, d.ID, deposit.TenantDeclined, nil, now)
	case SimulateAbandon:
		return s.EndCheckout(ctx, d.ID, deposit.TenantAbandoned, nil, now)
	case SimulateExpire:
		if d.Status.InCheckout() || d.Status == deposit.Cancelled {
			return s.EndCheckout(ctx, d.ID, deposit.CheckoutExpired, nil, now)
		}
		_, err := s.mover.MoveIf(ctx, d.ID, deposit.CoverageElapsed, now, func(*deposit.Deposit) bool { return true })
		return err
	default:
		return fault.ErrInvalidField.WithField("outcome", "must be start, activate, decline, abandon, fail_payment or expire")
	}
}

func (s *Service) simulateStart(ctx context.Context, depositID id.ID, now time.Time) error {
	return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) error {
		d, err := repos.Deposits.ForUpdate(ctx, depositID)
		if err != nil {
			return err
		}
		if _, err := d.Status.Next(deposit.Secured); err != nil {
			return err
		}
		return lifecycle.StartCheckout(ctx, repos, d, now)
	})
}

// simulatePayment pays at the provider until the deposit has made the wanted transition. The payment in flight may turn out
// to be over, when a tenant closed its page; then another payment is begun.
func (s *Service) simulatePayment(ctx context.Context, d *deposit.Deposit, want deposit.Trigger, now time.Time) error {
	tokens, err := s.deps.Deposits.CheckoutTokens(ctx, []id.ID{d.ID})
	if err != nil {
		return err
	}
	for range maxSettlements {
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
	return errPaymentOpen
}

func (s *Service) payOnce(ctx context.Context, d *deposit.Deposit, succeeds bool, token secret.Text, now time.Time) error {
	payment, _, err := s.openFee(ctx, d, token, nil, nil, now)
	if err != nil {
		return err
	}
	if err := s.deps.Simulator.SimulatePayment(ctx, payment.ID, succeeds); err != nil {
		return err
	}
	return s.closeFee(ctx, payment, now) // a payment that another caller has settled meanwhile stays as it is
}
