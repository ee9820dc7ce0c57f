package deposit

import (
	"time"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/fault"
)

// MinReminderInterval is the shortest time between two mails with the link to pay a debt, that after a refusal
// included (pages.md, "A refused claim").
const MinReminderInterval = 24 * time.Hour

// Faults of an operator's acts on a collection: it is being ended, a reminder was sent lately, or the tenant's record
// was erased.
var (
	ErrCollectionEnding = fault.New(fault.Conflict, "collection_ending",
		"The collection is being ended: the payment provider is told first.")
	ErrRemindedRecently = fault.New(fault.Conflict, "collection_reminded",
		"The tenant was mailed the link to pay within the last 24 hours.")
	ErrNobodyToRemind = fault.New(fault.Conflict, "collection_without_tenant",
		"The record of the tenant was erased, so nobody can be mailed.")
)

// Payable reports whether the tenant may pay the debt on the provider's page.
func (d *Debt) Payable(now time.Time) bool {
	return d.State == CollectionAwaitingTenant && d.CancelAt.IsZero() && !d.Expired(now)
}

// CheckEndable returns ErrCollectionOver if the collection has ended, and ErrCollectionEnding if its end was
// requested before.
func (d *Debt) CheckEndable() error {
	switch {
	case d.State.Final():
		return ErrCollectionOver.WithMessage("The collection is %s.", d.State)
	case !d.CancelAt.IsZero():
		return ErrCollectionEnding
	}
	return nil
}

// RequestEnd records that an operator wants to end the collection. If the tenant's payment arrives first, the
// collection is paid. Returns the errors of CheckEndable.
func (d *Debt) RequestEnd(as CollectionTrigger, by actor.Actor, now time.Time) error {
	if err := d.CheckEndable(); err != nil {
		return err
	}
	d.CancelAt, d.CancelBy, d.CancelAs = now, by, as
	return nil
}

// RemindableAt returns the time from which the tenant may be mailed the link to pay again; zero if no such mail was
// sent.
func (d *Debt) RemindableAt() time.Time {
	if d.AskedAt.IsZero() {
		return d.AskedAt
	}
	return d.AskedAt.Add(MinReminderInterval)
}

// CheckRemindable checks whether the tenant may be mailed the link to pay the debt now.
//
// Returns the errors of CheckEndable, ErrCollectionNotPayable unless the debt waits for the tenant, and
// ErrRemindedRecently.
func (d *Debt) CheckRemindable(now time.Time) error {
	if err := d.CheckEndable(); err != nil {
		return err
	}
	switch at := d.RemindableAt(); {
	case !d.Payable(now):
		return ErrCollectionNotPayable
	case now.Before(at):
		return ErrRemindedRecently.WithMessage("%s It can be sent again at %s.", ErrRemindedRecently.Message,
			FormatTimestamp(at))
	}
	return nil
}

// RecordReminder records that the tenant is mailed the link to pay. Returns the errors of CheckRemindable.
func (d *Debt) RecordReminder(now time.Time) error {
	if err := d.CheckRemindable(now); err != nil {
		return err
	}
	d.AskedAt = now
	return nil
}
