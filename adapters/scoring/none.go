package scoring

import (
	"context"

	"partnerdeposits/core/fault"
	depositports "partnerdeposits/ports/deposits"
)

// None is the scoring of an installation without a scoring service: nothing is decided.
type None struct{}

// Assess implements depositports.Scoring and returns service_unavailable.
func (None) Assess(context.Context, depositports.Applicant) (bool, error) {
	return false, fault.ErrUnavailable
}
