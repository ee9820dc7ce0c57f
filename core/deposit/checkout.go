package deposit

import "time"

// CheckoutOpen reports whether the tenant may still secure the deposit at a time (api.md §3, "Timers"). For a page, a
// mail and a timer the time is now. For a payment it is the time at which the tenant paid.
func (d *Deposit) CheckoutOpen(at time.Time) bool {
	return d.Status.InCheckout() && at.Before(d.CheckoutExpiresAt) && !d.StayOver(at)
}

// StayOver reports whether the rental period has ended: there is nothing left to guarantee, and no tenant pays for it.
func (d Draft) StayOver(at time.Time) bool { return !at.Before(d.ContractEndAt) }

// StartCheckout records a step of the tenant. The time until the checkout counts as idle starts here.
//
// Returns ErrNotSecurable when the checkout has ended.
func (d *Deposit) StartCheckout(now time.Time) error {
	if !d.CheckoutOpen(now) {
		return ErrNotSecurable
	}
	d.CheckoutStartedAt, d.UpdatedAt = now, now
	return nil
}

// MayBePaying reports whether the checkout has begun, so that the tenant may have a payment page open.
func (d *Deposit) MayBePaying() bool { return !d.CheckoutStartedAt.IsZero() && d.Status.InCheckout() }

// Idle reports whether a tenant began the checkout and has made no step for Timers.CheckoutIdleAfter.
func (d *Deposit) Idle(timers Timers, now time.Time) bool {
	return d.Status == Pending && !d.CheckoutStartedAt.IsZero() &&
		!d.CheckoutStartedAt.After(now.Add(-timers.CheckoutIdleAfter))
}

// CoverElapsed reports whether the cover of an active deposit has ended.
func (d *Deposit) CoverElapsed(now time.Time) bool {
	return d.Status == Active && !now.Before(d.ExpiresAt)
}

// EndingSoon is how long before its end a cover ends soon: the operator's first page lists it, and a mail tells of it.
const EndingSoon = 7 * 24 * time.Hour
