package lifecycle

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/core/deposit"
)

// PrepareDepositFunc is a function that changes a locked deposit just before a transition or a payment, in the same
// transaction.
type PrepareDepositFunc func(ctx context.Context, d *deposit.Deposit) error

// IsCheckoutOverError reports whether err means that the checkout of a deposit had already ended.
func IsCheckoutOverError(err error) bool {
	return errors.Is(err, deposit.ErrNotCancellable) || errors.Is(err, deposit.ErrNotSecurable)
}

// RecordCheckoutStep records on the locked deposit that the tenant made a step in the checkout. The time after
// which a checkout counts as idle starts here.
//
// Returns deposit.ErrNotSecurable when the checkout has ended.
func (j Journal) RecordCheckoutStep(ctx context.Context, d *deposit.Deposit, now time.Time) error {
	if err := d.RecordCheckoutStep(now); err != nil {
		return err
	}
	return j.Deposits.StoreCheckoutProgress(ctx, d)
}
