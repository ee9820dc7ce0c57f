// Package timers makes the transitions of deposits that are due by time: idle checkouts, expired checkouts and
// elapsed covers (api.md §3). A deposit that fails is logged and tried again in the next run.
package timers

import (
	"context"
	"log/slog"
	"time"

	"partnerdeposits/app/deposits/lifecycle"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

type Deps struct {
	Transitions lifecycle.TransitionApplier
	Due         depositports.DueDepositFinder
	Payments    CheckoutEnder
	Clock       ports.Clock
	Log         *slog.Logger
	Timers      deposit.TimerDurations
}

// CheckoutEnder ends checkouts whose fee payment may be in flight.
type CheckoutEnder interface {
	// EndCheckout settles the fee payment in flight, if any, and applies trigger; prepare may be nil.
	//
	// Returns deposit.ErrNotCancellable when the checkout had ended already.
	EndCheckout(ctx context.Context, depositID id.ID, trigger deposit.Trigger, prepare lifecycle.PrepareDepositFunc,
		now time.Time) error
}

type Service struct {
	deps                   Deps
	idle, expired, elapsed timer
}

func New(deps Deps) *Service {
	return &Service{
		deps:    deps,
		idle:    timer{name: "mark idle"},
		expired: timer{name: "expire checkout"},
		elapsed: timer{name: "close elapsed"},
	}
}
