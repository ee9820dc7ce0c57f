// Package connections links operators' accounts to partners by signed connect URLs, and ends those links
// (service.md, "Connect pages"; api.md §4).
package connections

import (
	"partnerdeposits/app/internal/signin"
	"partnerdeposits/core/partner"
	"partnerdeposits/ports"
)

// Deps holds the capabilities and settings of the use cases.
type Deps struct {
	UnitOfWork   ports.UnitOfWork
	Partners     ports.PartnerReader
	Operators    ports.OperatorReader
	Links        ports.LinkReader
	Passwords    ports.Passwords
	Clock        ports.Clock
	Entropy      ports.Entropy
	Limiter      ports.Limiter
	Environment  partner.Environment
	DashboardURL string // DASHBOARD_BASE_URL, without a slash at its end
}

// Service runs the use cases.
type Service struct {
	deps          Deps
	authenticator signin.Authenticator
}

// New makes the service.
func New(deps Deps) *Service {
	return &Service{deps: deps, authenticator: signin.Authenticator{
		Operators: deps.Operators, Passwords: deps.Passwords, Entropy: deps.Entropy, Limiter: deps.Limiter,
	}}
}

// production reports whether the relaxed rules for return URLs are off.
func (s *Service) production() bool { return s.deps.Environment == partner.Production }
