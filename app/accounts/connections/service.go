// Package connections links operators' accounts to partners by signed connect URLs, and ends those links
// (service.md, "Connect pages"; api.md §4).
package connections

import (
	"partnerdeposits/app/accounts/signin"
	"partnerdeposits/core/partner"
	accountports "partnerdeposits/ports/accounts"
	partnerports "partnerdeposits/ports/partners"
	ports "partnerdeposits/ports/platform"
)

// Deps holds the capabilities and settings of the use cases.
type Deps struct {
	UnitOfWork   ports.UnitOfWork
	SignIn       signin.SignIn
	Partners     partnerports.Partners
	Operators    accountports.Operators
	Links        accountports.Links
	Signing      ports.SigningSecrets
	Outbox       ports.Outbox
	Mails        ports.Mails
	Audit        ports.AuditLog
	Clock        ports.Clock
	Entropy      ports.Entropy
	Environment  partner.Environment
	DashboardURL string // DASHBOARD_BASE_URL, without a slash at its end
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
		deps: deps, authenticator: deps.SignIn.Authenticator, tokens: deps.SignIn.Tokens, codes: deps.SignIn.Codes,
	}
}

// production reports whether the relaxed rules for return URLs are off.
func (s *Service) production() bool { return s.deps.Environment == partner.Production }
