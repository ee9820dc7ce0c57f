// Package scoring tells which tenants are accepted. The sandbox stands in for a real scoring service: whoever tests an
// integration decides the answer by the e-mail (operations.md, "Pages").
package scoring

import (
	"context"
	"strings"

	"partnerdeposits/ports"
)

// refusedLocalPart is the part before the @ that is refused.
const refusedLocalPart = "declined"

// Sandbox accepts everybody but declined@….
type Sandbox struct{}

// Assess implements ports.Scoring. It never fails.
func (Sandbox) Assess(_ context.Context, a ports.Applicant) (bool, error) {
	local, _, _ := strings.Cut(a.Email, "@")
	return !strings.EqualFold(local, refusedLocalPart), nil
}
