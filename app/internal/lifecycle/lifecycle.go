// Package lifecycle records a step of a deposit: the row, its history and its event, in one transaction.
// Every use case that moves a deposit goes through it, so no step can be silent.
package lifecycle

import (
	"context"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

// Move applies trigger to d, which the transaction holds locked, and records the step.
//
// Returns what Deposit.Apply returns.
func Move(ctx context.Context, repos ports.Repositories, d *deposit.Deposit, trigger deposit.Trigger, timers deposit.Timers, eventID id.ID, now time.Time) (deposit.Transition, error) {
	step, err := d.Apply(trigger, timers, now)
	if err != nil {
		return step, err
	}
	return step, Record(ctx, repos, d, step, eventID)
}

// Record stores a step that was applied already. A deposit that no partner may hear of leaves no event.
func Record(ctx context.Context, repos ports.Repositories, d *deposit.Deposit, step deposit.Transition, eventID id.ID) error {
	if err := repos.Deposits.Transition(ctx, d, step); err != nil {
		return err
	}
	if d.PartnerID.IsZero() {
		return nil
	}
	return repos.Outbox.Append(ctx, ports.Event{
		ID: eventID, PartnerID: d.PartnerID, Name: webhook.EventName(step.To.EventName()), DepositID: d.ID,
		Data: d.EventData(step), CreatedAt: step.At,
	})
}
