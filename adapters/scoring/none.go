package scoring

import (
	"context"

	"partnerdeposits/core/fault"
	"partnerdeposits/ports"
)

// None is the scoring of an installation that has not set one up: it cannot tell, so nothing is decided.
type None struct{}

// Assess implements ports.Scoring; it answers service_unavailable.
func (None) Assess(context.Context, ports.Applicant) (bool, error) {
	return false, fault.ErrUnavailable
}
