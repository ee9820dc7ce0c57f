package scoring

import (
	"context"

	"partnerdeposits/core/fault"
	depositports "partnerdeposits/ports/deposits"
)

// UnavailableScorer is the scoring of an installation without a scoring service: it accepts and refuses no tenant, and
// every request fails with service_unavailable.
type UnavailableScorer struct{}

// Assess always returns service_unavailable, since nothing can assess the tenant.
func (UnavailableScorer) Assess(context.Context, depositports.Applicant) (bool, error) {
	return false, fault.ErrUnavailable
}
