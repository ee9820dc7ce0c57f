package ports

import (
	"context"
	"time"

	"partnerdeposits/core/agreement"
	"partnerdeposits/core/id"
)

// AgreementRepository writes the evidence of agreements, in the transaction of the payment that they allow.
type AgreementRepository interface {
	// Keep adds a record. With a since, a record of the same deposit, client and words from that time on stays the only one.
	Keep(ctx context.Context, r agreement.Record, since time.Time) error
}

// AgreementReader reads the evidence of agreements.
type AgreementReader interface {
	// Agreements gives the records of a deposit, oldest first.
	Agreements(ctx context.Context, depositID id.ID) ([]agreement.Record, error)
}
