package lifecycle

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/core/deposit"
)

// Prepare changes a deposit that the transaction holds locked, just before a transition or a payment.
type Prepare func(ctx context.Context, d *deposit.Deposit) error

// CheckoutOver reports whether err says that the checkout had ended already.
func CheckoutOver(err error) bool {
	return errors.Is(err, deposit.ErrNotCancellable) || errors.Is(err, deposit.ErrNotSecurable)
}

// StartCheckout records a step of the tenant on the locked deposit. The time until a checkout counts as idle starts
// here.
//
// Returns deposit.ErrNotSecurable when the checkout has ended.
func (j Journal) StartCheckout(ctx context.Context, d *deposit.Deposit, now time.Time) error {
	if err := d.StartCheckout(now); err != nil {
		return err
	}
	return j.Deposits.SetCheckout(ctx, d)
}
