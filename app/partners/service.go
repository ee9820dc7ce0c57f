// Package partners authenticates partners, lists their linked accounts, and manages API keys for partners and admins, and
// partners and connect secrets for admins.
package partners

import (
	"context"
	"errors"
	"strconv"
	"time"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/ports"
)

// Deps holds the capabilities and settings of the use cases.
type Deps struct {
	UnitOfWork  ports.UnitOfWork
	Partners    ports.Partners
	Keys        ports.Keys
	Mails       ports.Mails
	Audit       ports.AuditLog
	Links       ports.Links
	Clock       ports.Clock
	Entropy     ports.Entropy
	Environment partner.Environment
	Limiter     ports.Limiter
	Limits      Limits // of partners without a rate limit of their own
}

// Service runs the use cases.
type Service struct{ deps Deps }

// New makes the service.
func New(deps Deps) *Service { return &Service{deps: deps} }

// Limits bounds a partner's requests.
type Limits struct {
	PerMinute       int // requests of any kind
	WritesPerMinute int // requests that may change data; they count as requests too
}

// LimitsOf gives the limits of p. A partner with a rate limit of its own has the default's share of writes.
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

// Names of the limits of a partner, which the partner sees (api.md §1, "Rate limits").
const (
	allRequests   = "default"
	writeRequests = "writes"
)

// RulesOf gives the rules under which a request of p counts. writes says that the request may change data.
func (s *Service) RulesOf(p partner.Partner, writes bool) []ports.LimitRule {
	limits, key := s.LimitsOf(p), ports.PartnerLimitKey(p.ID)
	rules := make([]ports.LimitRule, 1, 2)
	rules[0] = ports.LimitRule{Name: allRequests, Key: key, PerMinute: limits.PerMinute}
	if writes {
		rules = append(rules, ports.LimitRule{Name: writeRequests, Key: key, PerMinute: limits.WritesPerMinute})
	}
	return rules
}

// UnknownKeys is the name of the limit of unknown API keys, and UnknownKeysPerMinute the most of a network. Each unknown key
// costs a query, since no answer about an unknown key is kept. The limit is wide, because partners may share a network, and
// after a start a process has seen none of their keys.
const (
	UnknownKeys          = "unknown-keys"
	UnknownKeysPerMinute = 600
)

// Authenticate finds the caller by the headers x-api-key and Authorization. network is the client's IPv4 address or IPv6 /64.
//
// Returns missing_api_key, invalid_api_key, api_key_revoked, or rate_limited after too many unknown keys of the network.
func (s *Service) Authenticate(ctx context.Context, apiKey, authorization, network string) (partner.Caller, error) {
	presented, err := partner.PresentedKey(s.deps.Environment, apiKey, authorization)
	if err != nil {
		return partner.Caller{}, err
	}
	key, owner, err := s.findKey(ctx, partner.HashKey(presented), network)
	if err != nil {
		return partner.Caller{}, err
	}
	if key.Revoked() {
		return partner.Caller{}, partner.ErrAPIKeyRevoked
	}
	s.deps.Keys.RecordKeyUse(ctx, key.ID, s.deps.Clock.Now())
	return partner.Caller{Partner: owner, Key: key}, nil
}

// findKey counts a key that this process has not seen before as unknown, until the database knows it. A key seen before
// passes uncounted, whoever shares its network.
func (s *Service) findKey(ctx context.Context, hash partner.KeyHash, network string) (partner.APIKey, partner.Partner, error) {
	if s.deps.Keys.KeySeen(hash) {
		return s.deps.Keys.KeyByHash(ctx, hash)
	}
	rule := ports.LimitRule{Name: UnknownKeys, Key: "api:address:" + network, PerMinute: UnknownKeysPerMinute}
	if err := tooManyUnknown(s.deps.Limiter.Allow(ctx, rule)); err != nil {
		return partner.APIKey{}, partner.Partner{}, err
	}
	key, owner, err := s.deps.Keys.KeyByHash(ctx, hash)
	if !errors.Is(err, partner.ErrInvalidAPIKey) {
		s.deps.Limiter.Refund(ctx, rule)
	}
	return key, owner, err
}

// tooManyUnknown refuses a key of a network that has sent too many unknown ones.
func tooManyUnknown(d ports.LimitDecision) error {
	if d.Allowed {
		return nil
	}
	return fault.ErrRateLimited.WithRetryAfter(max(d.RetryAfter, time.Second))
}

// audit writes an admin's action to the audit log.
func (s *Service) audit(
	ctx context.Context, verb audit.Verb, subject string, detail map[string]string,
) error {
	return s.auditBy(ctx, actor.Staff, verb, subject, detail)
}

func (s *Service) auditBy(
	ctx context.Context, by actor.Actor, verb audit.Verb, subject string,
	detail map[string]string,
) error {
	return s.deps.Audit.Append(ctx, audit.Entry(s.deps.Entropy, s.deps.Clock.Now(), by, verb, subject, detail))
}

// change runs do for the partner with that slug and writes the audit log, in one transaction.
func (s *Service) change(
	ctx context.Context, slug string, verb audit.Verb, detail map[string]string,
	do func(context.Context, partner.Partner) error,
) error {
	p, err := s.deps.Partners.PartnerBySlug(ctx, slug)
	if err != nil {
		return err
	}
	return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		if err := do(ctx, p); err != nil {
			return err
		}
		return s.audit(ctx, verb, id.Partner.Of(p.ID), detail)
	})
}

func number(n int) string { return strconv.Itoa(n) }
