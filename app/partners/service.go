// Package partners holds the use cases about partners: who is calling, which accounts are theirs, and what the admin
// commands do to partners, their API keys and their connect secret.
package partners

import (
	"context"
	"strconv"

	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/ports"
)

// Deps is what the use cases stand on.
type Deps struct {
	UnitOfWork  ports.UnitOfWork
	Partners    ports.PartnerReader
	APIKeys     ports.KeyReader
	Links       ports.LinkReader
	Clock       ports.Clock
	Entropy     ports.Entropy
	Environment partner.Environment
	Limits      Limits // of partners without one of their own
}

// Service runs the use cases.
type Service struct{ deps Deps }

// New makes the service.
func New(deps Deps) *Service { return &Service{deps: deps} }

// Limits bounds how often a partner may call.
type Limits struct {
	PerMinute       int // requests of any kind
	WritesPerMinute int // of them, those that may change something
}

// LimitsOf gives the limits of p. A limit of its own keeps the share of writes that the default has.
func (s *Service) LimitsOf(p partner.Partner) Limits {
	if p.RateLimitPerMinute <= 0 {
		return s.deps.Limits
	}
	own := Limits{PerMinute: p.RateLimitPerMinute, WritesPerMinute: p.RateLimitPerMinute}
	if s.deps.Limits.PerMinute > 0 {
		own.WritesPerMinute = max(1, p.RateLimitPerMinute*s.deps.Limits.WritesPerMinute/s.deps.Limits.PerMinute)
	}
	return own
}

// Authenticate finds the caller by the two headers that can carry a key.
//
// Returns missing_api_key, invalid_api_key, or api_key_revoked for a key that was one.
func (s *Service) Authenticate(ctx context.Context, apiKey, authorization string) (partner.Caller, error) {
	presented, err := partner.PresentedKey(s.deps.Environment, apiKey, authorization)
	if err != nil {
		return partner.Caller{}, err
	}
	key, owner, err := s.deps.APIKeys.KeyByHash(ctx, partner.HashKey(presented))
	if err != nil {
		return partner.Caller{}, err
	}
	if key.Revoked() {
		return partner.Caller{}, partner.ErrAPIKeyRevoked
	}
	s.deps.APIKeys.RecordKeyUse(ctx, key.ID, s.deps.Clock.Now())
	return partner.Caller{Partner: owner, Key: key}, nil
}

const actor = "admin"

// audit remembers a deed of the admin.
func (s *Service) audit(ctx context.Context, repos ports.Repositories, action, subject string, detail map[string]string) error {
	return repos.Audit.Append(ctx, ports.AuditEntry{
		ID: s.deps.Entropy.NewID(), At: s.deps.Clock.Now(), Actor: actor, Action: action, Subject: subject, Detail: detail,
	})
}

// change does something to the partner of that slug and remembers it.
func (s *Service) change(ctx context.Context, slug, action string, detail map[string]string, do func(context.Context, ports.Repositories, partner.Partner) error) error {
	p, err := s.deps.Partners.PartnerBySlug(ctx, slug)
	if err != nil {
		return err
	}
	return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) error {
		if err := do(ctx, repos, p); err != nil {
			return err
		}
		return s.audit(ctx, repos, action, id.Partner.Of(p.ID), detail)
	})
}

func number(n int) string { return strconv.Itoa(n) }
