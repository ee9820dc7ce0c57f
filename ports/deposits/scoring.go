package deposits

import (
	"context"

	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
)

// Scoring decides whether a tenant is accepted.
type Scoring interface {
	// Assess decides about an applicant. Returns service_unavailable if no decision is possible; the tenant may try
	// again then.
	Assess(ctx context.Context, a Applicant) (accepted bool, err error)
}

// Applicant is a tenant who asks for a guarantee.
type Applicant struct {
	DepositID id.ID
	Amount    money.Cents
	Email     string
	FirstName string
	LastName  string
}
