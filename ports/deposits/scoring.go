package deposits

import (
	"context"

	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
)

// TenantScorer decides whether the service accepts a tenant.
type TenantScorer interface {
	// Assess decides about an applicant. Returns service_unavailable if no decision is possible; the tenant may try
	// again then.
	Assess(ctx context.Context, a Applicant) (accepted bool, err error)
}

// Applicant is a tenant who wants to secure a deposit.
type Applicant struct {
	DepositID id.ID
	Amount    money.Cents
	Email     string
	FirstName string
	LastName  string
}
