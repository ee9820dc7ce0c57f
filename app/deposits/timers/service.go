// Package timers makes the transitions of deposits that are due by time: idle checkouts, expired checkouts
// and elapsed covers (api.md §3).
//
// Any number of dispatchers may run the same timer at once. Each use case returns the number of deposits that
// it moved, and an error only when the due deposits cannot be read. A failure with a deposit is logged, and
// the deposit is tried again in the next run.
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

// Deps holds the repositories, clients and settings that the timers need.
type Deps struct {
	Transitions lifecycle.TransitionApplier
	Due         depositports.DueDepositFinder
	Payments    CheckoutEnder
	Clock       ports.Clock
	Log         *slog.Logger
	Timers      deposit.TimerDurations
}

// CheckoutEnder ends the checkouts of deposits whose fee payment may be in flight: begun and not settled.
type CheckoutEnder interface {
	// EndCheckout settles the deposit's fee payment in flight, if any, and then applies trigger; prepare may be
	// nil.
	//
	// Returns deposit.ErrNotCancellable when the checkout had ended already.
	EndCheckout(ctx context.Context, depositID id.ID, trigger deposit.Trigger, prepare lifecycle.PrepareDepositFunc,
		now time.Time) error
}

// Service moves deposits whose time has come: idle checkouts, expired checkouts and elapsed covers.
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
