package deposit

import (
	"time"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/fault"
)

// RemindEvery is the shortest time between two mails with the link to pay a debt. The mail that follows a refusal
// counts (pages.md, "A refused claim").
const RemindEvery = 24 * time.Hour

// Faults of an operator's acts on a collection.
var (
	ErrCollectionEnding = fault.New(fault.Conflict, "collection_ending",
		"The collection is being ended: the payment provider is told first.")
	ErrReminded = fault.New(fault.Conflict, "collection_reminded",
		"The tenant was mailed the link to pay within the last 24 hours.")
	ErrNobodyToRemind = fault.New(fault.Conflict, "collection_without_tenant",
		"The record of the tenant was erased, so nobody can be mailed.")
)

// Payable reports whether the tenant may pay the debt on the provider's page.
func (d *Debt) Payable(now time.Time) bool {
	return d.State == AwaitingTenant && d.CancelAt.IsZero() && !d.Expired(now)
}

// Endable returns ErrCollectionOver for a collection that is over, and ErrCollectionEnding for one whose end was asked
// for.
func (d *Debt) Endable() error {
	switch {
	case d.State.Final():
		return ErrCollectionOver.WithMessage("The collection is %s.", d.State)
	case !d.CancelAt.IsZero():
		return ErrCollectionEnding
	}
	return nil
}

// AskEnd asks for an operator's end: as is SettledElsewhere or CollectionWithdrawn. The provider is told next, and a
// payment that was quicker wins. Returns the errors of Endable.
func (d *Debt) AskEnd(as CollectionTrigger, by actor.Actor, now time.Time) error {
	if err := d.Endable(); err != nil {
		return err
	}
	d.CancelAt, d.CancelBy, d.CancelAs = now, by, as
	return nil
}

// RemindableAt is the time from which the tenant may be mailed the link to pay again.
func (d *Debt) RemindableAt() time.Time {
	if d.AskedAt.IsZero() {
		return d.AskedAt
	}
	return d.AskedAt.Add(RemindEvery)
}

// Remindable tells whether the tenant may be mailed the link to pay now.
//
// Returns the errors of Endable, ErrCollectionNotPayable unless the debt waits for the tenant, and ErrReminded.
func (d *Debt) Remindable(now time.Time) error {
	if err := d.Endable(); err != nil {
		return err
	}
	switch at := d.RemindableAt(); {
	case !d.Payable(now):
		return ErrCollectionNotPayable
	case now.Before(at):
		return ErrReminded.WithMessage("%s It can be sent again at %s.", ErrReminded.Message, Timestamp(at))
	}
	return nil
}

// Remind records that the tenant of the debt was mailed the link to pay it now.
//
// Returns the errors of Remindable.
func (d *Debt) Remind(now time.Time) error {
	if err := d.Remindable(now); err != nil {
		return err
	}
	d.AskedAt = now
	return nil
}
