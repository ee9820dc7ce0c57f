// Package lifecycle makes the transitions of deposits, and writes the deposit, its history and its event in one
// transaction.
package lifecycle

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	accountports "partnerdeposits/ports/accounts"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

// Journal records transitions of deposits in the transaction of the change.
type Journal struct {
	Deposits depositports.DepositStore
	Links    accountports.PartnerLinkStore
	Outbox   ports.Outbox
}

type TransitionAuthor struct {
	Actor  actor.Actor
	Detail map[string]string
}

// ApplyTrigger applies trigger to a locked deposit and records the transition, or returns an error if the status
// does not allow it.
func (j Journal) ApplyTrigger(ctx context.Context, d *deposit.Deposit, trigger deposit.Trigger,
	timers deposit.TimerDurations, by TransitionAuthor,
	eventID id.ID, now time.Time) (deposit.Transition, error) {
	t, err := d.ApplyTrigger(trigger, timers, now)
	if err != nil {
		return t, err
	}
	return t, j.RecordTransition(ctx, d, t, by, eventID)
}

// RecordTransition stores a transition that the deposit has already made.
func (j Journal) RecordTransition(ctx context.Context, d *deposit.Deposit, t deposit.Transition, by TransitionAuthor,
	eventID id.ID) error {
	return j.WriteTransitionRows(ctx, BuildTransitionWrites(d, t, by, eventID))
}

// BuildTransitionWrites returns the rows of a transition: deposit, history and, for a deposit with a partner,
// event.
func BuildTransitionWrites(d *deposit.Deposit, t deposit.Transition, by TransitionAuthor,
	eventID id.ID) ports.RowsToWrite {
	t.Actor, t.Detail = by.Actor, by.Detail
	if d.PartnerID.IsZero() {
		return ports.RowsToWrite{Transition: &ports.DepositTransition{Deposit: d, Transition: t}}
	}
	t.EventID = eventID
	return ports.RowsToWrite{Transition: &ports.DepositTransition{Deposit: d, Transition: t}, Event: &ports.Event{
		ID: eventID, PartnerID: d.PartnerID, Name: webhook.EventName(t.To.EventName()), DepositID: d.ID,
		Data: d.EventData(t), CreatedAt: t.At,
	}}
}

// WriteTransitionRows stores the rows of a transition. For an operator's deposit the partner receives events only
// while its link is active (api.md §2).
func (j Journal) WriteTransitionRows(ctx context.Context, writes ports.RowsToWrite) error {
	if d := writes.Transition.Deposit; writes.Event != nil && !d.ByPartnerAPI {
		link, err := j.Links.LockNewestShared(ctx, d.PartnerID, d.AccountID)
		hears, err := hearsOf(link.Link, err)
		if err != nil {
			return err
		}
		if !hears {
			writes.Event, writes.Transition.Transition.EventID = nil, id.ID{}
		}
	}
	if err := j.Deposits.StoreTransition(ctx, writes.Transition.Deposit, writes.Transition.Transition); err != nil ||
		writes.Event == nil {
		return err
	}
	return j.Outbox.Append(ctx, *writes.Event)
}

// hearsOf reports whether a partner with this link receives events of deposits that it did not create: only while
// the link is active. link and err are the results of Links.LockNewestShared.
func hearsOf(link connect.Link, err error) (bool, error) {
	switch {
	case errors.Is(err, connect.ErrAccountNotLinked):
		return false, nil
	case err != nil:
		return false, err
	}
	return link.Status() == connect.LinkActive, nil
}
