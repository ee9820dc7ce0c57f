//go:build broken_no_scan || broken_asynq_retries

package wire

import (
	"context"
	"time"

	"partnerdeposits/ports"
)

// noScan finds neither due deliveries nor ended leases.
type noScan struct{ ports.ClaimStore }

func (noScan) Due(context.Context) ([]ports.Subscription, error) { return nil, nil }

func (noScan) ClaimUrgent(context.Context, int, time.Duration) ([]ports.Claim, int, error) {
	return nil, 0, nil
}
