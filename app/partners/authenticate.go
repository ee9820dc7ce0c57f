package partners

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/partner"
	ports "partnerdeposits/ports/platform"
)

// The rate limit on the unknown API keys that a network sends. Each costs a query, but partners may share a
// network, and a new process has seen none of their keys, so the limit is wide.
const (
	UnknownKeysLimitName = "unknown-keys"
	UnknownKeysPerMinute = 600
)

// Authenticate finds the calling partner by its API key. network is the client's IPv4 address or IPv6 /64.
//
// Returns missing_api_key, invalid_api_key, api_key_revoked, or rate_limited after too many unknown keys.
func (s *Service) Authenticate(ctx context.Context, apiKey, authorization, network string) (partner.Caller, error) {
	presented, err := partner.APIKeyFromHeaders(s.deps.Environment, apiKey, authorization)
	if err != nil {
		return partner.Caller{}, err
	}
	key, owner, err := s.findKey(ctx, partner.HashAPIKey(presented), network)
	if err != nil {
		return partner.Caller{}, err
	}
	if key.Revoked() {
		return partner.Caller{}, partner.ErrAPIKeyRevoked
	}
	s.deps.Keys.RecordKeyUse(ctx, key.ID, s.deps.Clock.Now())
	return partner.Caller{Partner: owner, Key: key}, nil
}

// findKey finds an API key by its hash. A key that this process has not seen counts against the limit of unknown
// keys until the database confirms it.
func (s *Service) findKey(ctx context.Context, hash partner.APIKeyHash,
	network string) (partner.APIKey, partner.Partner, error) {
	if s.deps.Keys.IsKnownKey(hash) {
		return s.deps.Keys.KeyByHash(ctx, hash)
	}
	rule := ports.LimitRule{Name: UnknownKeysLimitName, Key: "api:address:" + network, PerMinute: UnknownKeysPerMinute}
	if err := tooManyUnknown(s.deps.Limiter.Allow(ctx, rule)); err != nil {
		return partner.APIKey{}, partner.Partner{}, err
	}
	key, owner, err := s.deps.Keys.KeyByHash(ctx, hash)
	if !errors.Is(err, partner.ErrInvalidAPIKey) {
		s.deps.Limiter.Uncount(ctx, rule)
	}
	return key, owner, err
}

// tooManyUnknown returns rate_limited for a network that has sent too many unknown API keys.
func tooManyUnknown(d ports.LimitDecision) error {
	if d.Allowed {
		return nil
	}
	return fault.ErrRateLimited.WithRetryAfter(max(d.RetryAfter, time.Second))
}
