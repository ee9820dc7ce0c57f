//go:build broken_no_scan || broken_asynq_retries

package wire

import (
	"context"
	"time"

	"partnerdeposits/ports"
)

// noScan finds neither due deliveries nor ended leases.
type noScan struct{ ports.ClaimStore }

func (noScan) Due(_ context.Context, horizon time.Duration) (ports.Due, error) {
	return ports.Due{Next: horizon}, nil
}

func (noScan) ClaimUrgent(context.Context, int, time.Duration) ([]ports.Claim, int, error) {
	return nil, 0, nil
}
