package deposits

import (
	"context"
	"time"

	"partnerdeposits/core/agreement"
	"partnerdeposits/core/id"
)

// Agreements keeps what tenants agreed to.
type Agreements interface {
	// Keep adds a record. With a since, a record of the same deposit, client and words from that time on stays the only
	// one.
	Keep(ctx context.Context, r agreement.Record, since time.Time) error
	// Agreements gives the records of a deposit, oldest first.
	Agreements(ctx context.Context, depositID id.ID) ([]agreement.Record, error)
}
