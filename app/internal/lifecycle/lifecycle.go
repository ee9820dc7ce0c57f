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

// By tells whose doing a step is.
type By struct {
	Actor  string            // kind and id: "partner:prt_…", "tenant", "scheduler"
	Detail map[string]string // what the actor had to say; nil where nothing
}

// Move applies trigger to d, which the transaction holds locked, and records the step.
//
// Returns what Deposit.Apply returns.
func Move(ctx context.Context, repos ports.Repositories, d *deposit.Deposit, trigger deposit.Trigger, timers deposit.Timers, by By, eventID id.ID, now time.Time) (deposit.Transition, error) {
	step, err := d.Apply(trigger, timers, now)
	if err != nil {
		return step, err
	}
	return step, Record(ctx, repos, d, step, by, eventID)
}

// Record stores a step that was applied already.
func Record(ctx context.Context, repos ports.Repositories, d *deposit.Deposit, step deposit.Transition, by By, eventID id.ID) error {
	return Write(ctx, repos, Writes(d, step, by, eventID))
}

// Writes are the rows of a step: the deposit, its history and its event. A deposit that no partner may hear of has no event.
func Writes(d *deposit.Deposit, step deposit.Transition, by By, eventID id.ID) ports.Writes {
	step.Actor, step.Detail = by.Actor, by.Detail
	if d.PartnerID.IsZero() {
		return ports.Writes{Move: &ports.Move{Deposit: d, Step: step}}
	}
	step.EventID = eventID
	return ports.Writes{Move: &ports.Move{Deposit: d, Step: step}, Event: &ports.Event{
		ID: eventID, PartnerID: d.PartnerID, Name: webhook.EventName(step.To.EventName()), DepositID: d.ID,
		Data: d.EventData(step), CreatedAt: step.At,
	}}
}

// Write stores the rows of a step in a transaction.
func Write(ctx context.Context, repos ports.Repositories, writes ports.Writes) error {
	if err := repos.Deposits.Transition(ctx, writes.Move.Deposit, writes.Move.Step); err != nil || writes.Event == nil {
		return err
	}
	return repos.Outbox.Append(ctx, *writes.Event)
}
