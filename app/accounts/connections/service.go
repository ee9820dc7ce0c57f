// Package connections links operators' accounts to partners by signed connect URLs, and ends those links
// (service.md, "Connect pages"; api.md §4).
package connections

import (
	"partnerdeposits/app/accounts/signin"
	"partnerdeposits/core/partner"
	"partnerdeposits/ports"
)

// Deps holds the capabilities and settings of the use cases.
type Deps struct {
	UnitOfWork  ports.UnitOfWork
	Partners    ports.PartnerReader
	Operators   ports.OperatorReader
	TwoFactors  ports.TwoFactorReader
	Codes       ports.OneTimeCodes
	Links       ports.LinkReader
	Passwords   ports.Passwords
	Clock       ports.Clock
	Entropy     ports.Entropy
	Limiter     ports.Limiter
	Environment partner.Environment
	// VerifyAddresses says that mails are sent, so that addresses can be verified (SMTP_URL).
	VerifyAddresses bool
	DashboardURL    string // DASHBOARD_BASE_URL, without a slash at its end
}

// Service runs the use cases.
type Service struct {
	deps          Deps
	authenticator signin.Authenticator
	tokens        signin.Tokens
	codes         signin.Codes
}

// New makes the service.
func New(deps Deps) *Service {
	return &Service{
		deps: deps,
		authenticator: signin.Authenticator{
			UnitOfWork: deps.UnitOfWork, Operators: deps.Operators, Passwords: deps.Passwords, Entropy: deps.Entropy, Limiter: deps.Limiter,
		},
		tokens: signin.Tokens{Entropy: deps.Entropy, DashboardURL: deps.DashboardURL, Verify: deps.VerifyAddresses},
		codes: signin.Codes{
			UnitOfWork: deps.UnitOfWork, Operators: deps.Operators, Codes: deps.Codes, Entropy: deps.Entropy, DashboardURL: deps.DashboardURL,
		},
	}
}

// production reports whether the relaxed rules for return URLs are off.
func (s *Service) production() bool { return s.deps.Environment == partner.Production }
