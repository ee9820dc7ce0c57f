package lifecycle

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/core/deposit"
)

// PrepareDepositFunc changes a locked deposit just before a transition or payment, in the same transaction.
type PrepareDepositFunc func(ctx context.Context, d *deposit.Deposit) error

// IsCheckoutOverError reports whether err means that a checkout had already ended.
func IsCheckoutOverError(err error) bool {
	return errors.Is(err, deposit.ErrNotCancellable) || errors.Is(err, deposit.ErrNotSecurable)
}

// RecordCheckoutStep records a tenant's step in the checkout, which restarts the idle time.
//
// Returns deposit.ErrNotSecurable when the checkout has ended.
func (j Journal) RecordCheckoutStep(ctx context.Context, d *deposit.Deposit, now time.Time) error {
	if err := d.RecordCheckoutStep(now); err != nil {
		return err
	}
	return j.Deposits.StoreCheckoutProgress(ctx, d)
}
