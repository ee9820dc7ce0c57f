package scoring

import (
	"context"

	"partnerdeposits/core/fault"
	"partnerdeposits/ports"
)

// None is the scoring of an installation without a scoring service: nothing is decided.
type None struct{}

// Assess implements ports.Scoring and returns service_unavailable.
func (None) Assess(context.Context, ports.Applicant) (bool, error) {
	return false, fault.ErrUnavailable
}
