// Package lifecycle makes the transitions of deposits, and writes the deposit, its history and its event in
// one transaction. Every use case that changes the status of a deposit uses this package, so that no
// transition lacks history or event.
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

// Journal records transitions of deposits within the transaction of the change.
type Journal struct {
	Deposits depositports.DepositStore
	Links    accountports.LinkStore
	Outbox   ports.Outbox
}

// TransitionAuthor is the author of a transition, for the deposit's history.
type TransitionAuthor struct {
	Actor  actor.Actor
	Detail map[string]string // Details of the transition, for example its reason; nil for none.
}

// ApplyTrigger applies trigger to d, which the transaction has locked, and records the transition.
//
// Returns an error for a trigger that the deposit's status does not allow.
func (j Journal) ApplyTrigger(ctx context.Context, d *deposit.Deposit, trigger deposit.Trigger,
	timers deposit.TimerDurations, by TransitionAuthor,
	eventID id.ID, now time.Time) (deposit.Transition, error) {
	t, err := d.ApplyTrigger(trigger, timers, now)
	if err != nil {
		return t, err
	}
	return t, j.RecordTransition(ctx, d, t, by, eventID)
}

// RecordTransition stores a transition that the deposit d has already made.
func (j Journal) RecordTransition(ctx context.Context, d *deposit.Deposit, t deposit.Transition, by TransitionAuthor,
	eventID id.ID) error {
	return j.WriteTransitionRows(ctx, BuildTransitionWrites(d, t, by, eventID))
}

// BuildTransitionWrites returns the rows to write for a transition: the deposit, its history and its event. A deposit
// without a partner has no event.
func BuildTransitionWrites(d *deposit.Deposit, t deposit.Transition, by TransitionAuthor,
	eventID id.ID) ports.ChangeWrites {
	t.Actor, t.Detail = by.Actor, by.Detail
	if d.PartnerID.IsZero() {
		return ports.ChangeWrites{Transition: &ports.DepositTransition{Deposit: d, Transition: t}}
	}
	t.EventID = eventID
	return ports.ChangeWrites{Transition: &ports.DepositTransition{Deposit: d, Transition: t}, Event: &ports.Event{
		ID: eventID, PartnerID: d.PartnerID, Name: webhook.EventName(t.To.EventName()), DepositID: d.ID,
		Data: d.EventData(t), CreatedAt: t.At,
	}}
}

// WriteTransitionRows stores the rows of a transition within a transaction. For a deposit that an operator created, the
// partner receives events only while its link to the account is active (api.md §2).
func (j Journal) WriteTransitionRows(ctx context.Context, writes ports.ChangeWrites) error {
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

// hearsOf reports whether a partner receives the events of a deposit that it did not create. true: its link
// to the account is active; false: the link was revoked or never existed. link and err are the results of
// Links.LockNewestShared.
func hearsOf(link connect.Link, err error) (bool, error) {
	switch {
	case errors.Is(err, connect.ErrAccountNotLinked):
		return false, nil
	case err != nil:
		return false, err
	}
	return link.Status() == connect.LinkActive, nil
}
