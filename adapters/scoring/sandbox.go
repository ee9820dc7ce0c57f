// Package scoring decides which tenants may get a deposit. In the sandbox a tester chooses the decision by the
// tenant's e-mail address (pages.md, "Sandbox").
package scoring

import (
	"context"
	"strings"

	depositports "partnerdeposits/ports/deposits"
)

// refusedLocalPart is the part before the @ of an e-mail address whose tenant the sandbox refuses.
const refusedLocalPart = "declined"

// SandboxScorer is the scoring of the sandbox: it accepts every tenant except those with an address declined@….
type SandboxScorer struct{}

// Assess reports whether the tenant is accepted. It never fails.
func (SandboxScorer) Assess(_ context.Context, a depositports.Applicant) (bool, error) {
	local, _, _ := strings.Cut(a.Email, "@")
	return !strings.EqualFold(local, refusedLocalPart), nil
}
