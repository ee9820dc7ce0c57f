// Package connections links operators' accounts to partners (service.md, "Connect pages"; api.md §4) and ends those links.
package connections

import (
	"partnerdeposits/app/internal/signin"
	"partnerdeposits/core/partner"
	"partnerdeposits/ports"
)

// Deps are what the service stands on.
type Deps struct {
	UnitOfWork   ports.UnitOfWork
	Partners     ports.PartnerReader
	Operators    ports.OperatorReader
	Links        ports.LinkReader
	Passwords    ports.Passwords
	Clock        ports.Clock
	Entropy      ports.Entropy
	Environment  partner.Environment
	DashboardURL string // DASHBOARD_BASE_URL, without a slash at its end
}

// Service is partner connect.
type Service struct {
	deps          Deps
	authenticator signin.Authenticator
}

// New makes the service.
func New(deps Deps) *Service {
	return &Service{deps: deps, authenticator: signin.Authenticator{Operators: deps.Operators, Passwords: deps.Passwords, Entropy: deps.Entropy}}
}

// production tells whether the shortcuts of development are off.
func (s *Service) production() bool { return s.deps.Environment == partner.Production }
