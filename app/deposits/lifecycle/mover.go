package lifecycle

import (
	"context"
	"time"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

// Transitions makes transitions of deposits in transactions of their own, and counts each transition after
// its commit.
type Transitions struct {
	Journal
	UnitOfWork ports.UnitOfWork
	Metrics    depositports.DepositMetrics
	Entropy    ports.Entropy
	Timers     deposit.Timers
}

// WithinTx runs change in a transaction and counts the transition that change made. A transition without a
// trigger means that no deposit changed its status.
func (m Transitions) WithinTx(ctx context.Context, change func(ctx context.Context) (deposit.Transition, error)) error {
	var made deposit.Transition
	err := m.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		var err error
		made, err = change(ctx)
		return err
	})
	if err == nil && made.Trigger != "" {
		m.Metrics.Transitioned(made.From, made.To, made.Trigger.By())
	}
	return err
}

// Apply makes and records a transition as Journal.Apply does, with the actor that the trigger implies and a
// new event id.
func (m Transitions) Apply(ctx context.Context, d *deposit.Deposit, trigger deposit.Trigger,
	now time.Time) (deposit.Transition, error) {
	return m.Journal.Apply(ctx, d, trigger, m.Timers, By{Actor: actor.Actor{Kind: trigger.By()}}, m.Entropy.NewID(), now)
}

// ApplyIf locks a deposit and applies trigger to it if due, which is called under the lock, returns true.
// moved reports whether the deposit made the transition.
func (m Transitions) ApplyIf(ctx context.Context, depositID id.ID, trigger deposit.Trigger, now time.Time,
	due func(*deposit.Deposit) bool) (moved bool, err error) {
	err = m.WithinTx(ctx, func(ctx context.Context) (deposit.Transition, error) {
		moved = false
		d, err := m.Deposits.ForUpdate(ctx, depositID)
		if err != nil || !due(d) {
			return deposit.Transition{}, err
		}
		moved = true
		return m.Apply(ctx, d, trigger, now)
	})
	return moved && err == nil, err
}
