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

// TransitionApplier makes transitions of deposits in own transactions, and counts them after the commit.
type TransitionApplier struct {
	Journal
	UnitOfWork ports.UnitOfWork
	Metrics    depositports.DepositMetrics
	Entropy    ports.Entropy
	Timers     deposit.TimerDurations
}

// RunInTx runs change in a transaction and counts its transition; one without a trigger changed no status.
func (m TransitionApplier) RunInTx(ctx context.Context, change func(ctx context.Context) (deposit.Transition,
	error)) error {
	var made deposit.Transition
	err := m.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		var err error
		made, err = change(ctx)
		return err
	})
	if err == nil && made.Trigger != "" {
		m.Metrics.CountTransition(made.From, made.To, made.Trigger.ActorKind())
	}
	return err
}

// ApplyTrigger makes and records a transition, with the actor that the trigger implies.
func (m TransitionApplier) ApplyTrigger(ctx context.Context, d *deposit.Deposit, trigger deposit.Trigger,
	now time.Time) (deposit.Transition, error) {
	return m.Journal.ApplyTrigger(ctx, d, trigger, m.Timers,
		TransitionAuthor{Actor: actor.Actor{Kind: trigger.ActorKind()}}, m.Entropy.NewID(), now)
}

// ApplyTriggerIf locks a deposit and applies trigger if due returns true; moved reports whether it did.
func (m TransitionApplier) ApplyTriggerIf(ctx context.Context, depositID id.ID, trigger deposit.Trigger, now time.Time,
	due func(*deposit.Deposit) bool) (moved bool, err error) {
	err = m.RunInTx(ctx, func(ctx context.Context) (deposit.Transition, error) {
		moved = false
		d, err := m.Deposits.LockRow(ctx, depositID)
		if err != nil || !due(d) {
			return deposit.Transition{}, err
		}
		moved = true
		return m.ApplyTrigger(ctx, d, trigger, now)
	})
	return moved && err == nil, err
}
