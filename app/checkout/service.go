package checkout

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"partnerdeposits/app/internal/lifecycle"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/ports"
)

// errBusy answers who wants to end a checkout whose payment cannot be stopped right now.
var errBusy = fault.ErrUnavailable.WithMessage("A payment of the tenant is under way. Please retry shortly.")

// Config holds what the environment decides.
type Config struct {
	Timers           deposit.Timers
	DashboardBaseURL string // the checkout pages live under it; the provider sends the tenant back there
}

// Deps is what the use cases need of the world. Simulator is nil where payments cannot be simulated; the rest is required.
type Deps struct {
	UnitOfWork ports.UnitOfWork
	Deposits   ports.DepositReader
	Accounts   ports.OperatorReader
	Payments   ports.PaymentReader
	Due        ports.DepositScheduler
	Provider   ports.PaymentProvider
	Simulator  ports.PaymentSimulator
	Scoring    ports.Scoring
	Clock      ports.Clock
	Entropy    ports.Entropy
	Metrics    ports.DepositMetrics
	Log        *slog.Logger
}

// Service is the use cases of checkout, of the timers of a deposit, and of its payments.
type Service struct {
	cfg                      Config
	deps                     Deps
	idle, unsecured, covered sweep
}

// New makes the service.
func New(cfg Config, deps Deps) *Service {
	cfg.DashboardBaseURL = strings.TrimSuffix(cfg.DashboardBaseURL, "/")
	return &Service{cfg: cfg, deps: deps}
}

// transact runs fn in a transaction and counts the step it made, if any, after the commit.
func (s *Service) transact(ctx context.Context, fn func(ctx context.Context, repos ports.Repositories) (deposit.Transition, error)) error {
	var step deposit.Transition
	err := s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) error {
		var err error
		step, err = fn(ctx, repos)
		return err
	})
	if err == nil && step.Trigger != "" {
		s.deps.Metrics.Transitioned(step.From, step.To, step.Trigger.By())
	}
	return err
}

// move is lifecycle.Move with this service's timers and a fresh event id.
func (s *Service) move(ctx context.Context, repos ports.Repositories, d *deposit.Deposit, t deposit.Trigger, now time.Time) (deposit.Transition, error) {
	return lifecycle.Move(ctx, repos, d, t, s.cfg.Timers, lifecycle.By{Actor: t.By()}, s.deps.Entropy.NewID(), now)
}

// feeUnderWay gives the deposit's fee payment that is processing, nil where there is none. It takes no lock: what is
// done about it looks again.
func (s *Service) feeUnderWay(ctx context.Context, depositID id.ID) (*deposit.Payment, error) {
	all, err := s.deps.Payments.Payments(ctx, depositID)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Kind == deposit.FeePayment && all[i].Status == deposit.PaymentProcessing {
			return &all[i], nil
		}
	}
	return nil, nil
}

// returnURL is where the provider sends the tenant back to.
func (s *Service) returnURL(token secret.Text) string {
	return s.cfg.DashboardBaseURL + "/checkout/" + token.Reveal() + "/return"
}

// open reports whether the tenant may still secure the deposit.
func open(d *deposit.Deposit, now time.Time) bool {
	return d.Status.InCheckout() && now.Before(d.CheckoutExpiresAt)
}

// isOver reports whether err says that the checkout was over already.
func isOver(err error) bool {
	return errors.Is(err, deposit.ErrNotCancellable) || errors.Is(err, deposit.ErrNotSecurable)
}
