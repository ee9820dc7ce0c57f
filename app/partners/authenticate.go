package partners

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/partner"
	ports "partnerdeposits/ports/platform"
)

// UnknownKeys is the name of the limit of unknown API keys, and UnknownKeysPerMinute the most of a network. Each
// unknown key costs a query, since no answer about an unknown key is kept. The limit is wide, because partners may
// share a network, and after a start a process has seen none of their keys.
const (
	UnknownKeys          = "unknown-keys"
	UnknownKeysPerMinute = 600
)

// Authenticate finds the caller by the headers x-api-key and Authorization. network is the client's IPv4 address or
// IPv6 /64.
//
// Returns missing_api_key, invalid_api_key, api_key_revoked, or rate_limited after too many unknown keys of the
// network.
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
func (s *Service) findKey(ctx context.Context, hash partner.KeyHash,
	network string) (partner.APIKey, partner.Partner, error) {
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
