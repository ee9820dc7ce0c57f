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

type Deps struct {
	UnitOfWork  ports.UnitOfWork
	SignIn      signin.Parts
	Partners    partnerports.PartnerStore
	Operators   accountports.OperatorStore
	Links       accountports.PartnerLinkStore
	Signing     ports.SigningSecretReader
	Outbox      ports.Outbox
	Mails       ports.MailQueue
	Audit       ports.AuditLog
	Clock       ports.Clock
	Entropy     ports.Entropy
	Environment partner.Environment
	// The setting DASHBOARD_BASE_URL, without a slash at its end.
	DashboardURL string
}

type Service struct {
	deps          Deps
	authenticator signin.Authenticator
	tokens        signin.MailTokens
	codes         signin.TwoFactorCodes
}

func New(deps Deps) *Service {
	return &Service{
		deps: deps, authenticator: deps.SignIn.Authenticator, tokens: deps.SignIn.Tokens, codes: deps.SignIn.Codes,
	}
}

// production reports whether the service runs in production, with strict rules for return URLs.
func (s *Service) production() bool { return s.deps.Environment == partner.EnvironmentProduction }
