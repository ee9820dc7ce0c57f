package scoring

import (
	"context"

	"partnerdeposits/core/fault"
	depositports "partnerdeposits/ports/deposits"
)

// UnavailableScorer is the scoring of an installation without a scoring service: every request fails with
// service_unavailable.
type UnavailableScorer struct{}

func (UnavailableScorer) Assess(context.Context, depositports.Applicant) (bool, error) {
	return false, fault.ErrUnavailable
}
