// Package scoring decides which tenants are accepted. In the sandbox, a tester chooses the decision by the e-mail
// (pages.md, "Sandbox").
package scoring

import (
	"context"
	"strings"

	depositports "partnerdeposits/ports/deposits"
)

// refusedLocalPart is the local part of refused addresses.
const refusedLocalPart = "declined"

// Sandbox accepts every tenant except declined@….
type Sandbox struct{}

// Assess implements depositports.Scoring. It never fails.
func (Sandbox) Assess(_ context.Context, a depositports.Applicant) (bool, error) {
	local, _, _ := strings.Cut(a.Email, "@")
	return !strings.EqualFold(local, refusedLocalPart), nil
}
