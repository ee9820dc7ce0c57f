package deposit

import "time"

// CheckoutOpen reports whether the tenant may secure the deposit at a time (api.md §3, "Timers"). For a payment, it
// is the time at which the tenant paid.
func (d *Deposit) CheckoutOpen(at time.Time) bool {
	return d.Status.InCheckout() && at.Before(d.CheckoutExpiresAt) && !d.RentalEnded(at)
}

// RentalEnded reports whether the rental period has ended, so that a deposit would secure nothing.
func (d Draft) RentalEnded(at time.Time) bool { return !at.Before(d.ContractEndAt) }

// RecordCheckoutStep records that the tenant did something at checkout, from which CheckoutIdleAfter counts.
//
// Returns ErrNotSecurable when the checkout has ended.
func (d *Deposit) RecordCheckoutStep(now time.Time) error {
	if !d.CheckoutOpen(now) {
		return ErrNotSecurable
	}
	d.CheckoutStartedAt, d.UpdatedAt = now, now
	return nil
}

// MayBePaying reports whether the tenant has begun the checkout and not finished it.
func (d *Deposit) MayBePaying() bool { return !d.CheckoutStartedAt.IsZero() && d.Status.InCheckout() }

// CheckoutIdle reports whether the tenant has begun a pending deposit's checkout and done nothing for
// CheckoutIdleAfter.
func (d *Deposit) CheckoutIdle(timers TimerDurations, now time.Time) bool {
	return d.Status == Pending && !d.CheckoutStartedAt.IsZero() &&
		!d.CheckoutStartedAt.After(now.Add(-timers.CheckoutIdleAfter))
}

// CoverElapsed reports whether the cover of an active deposit has ended.
func (d *Deposit) CoverElapsed(now time.Time) bool {
	return d.Status == Active && !now.Before(d.ExpiresAt)
}

// CoverEndingSoonPeriod is the time before the end of a cover from which the overview lists the deposit as ending
// soon and a mail warns.
const CoverEndingSoonPeriod = 7 * 24 * time.Hour
