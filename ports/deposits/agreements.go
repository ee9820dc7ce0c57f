package deposits

import (
	"context"
	"time"

	"partnerdeposits/core/agreement"
	"partnerdeposits/core/id"
)

// AgreementStore stores the words to which tenants agreed, with the time and the tenant.
type AgreementStore interface {
	// Store stores the record of an agreement. If since is set and a record of the same deposit, client and words was
	// stored at that time or later, Keep stores nothing.
	Store(ctx context.Context, r agreement.Record, since time.Time) error
	Agreements(ctx context.Context, depositID id.ID) ([]agreement.Record, error)
}
