package partners

import (
	"context"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/partner"
	ports "partnerdeposits/ports/platform"
)

// RateLimitsOf returns the partner's rate limits; a limit of its own keeps the default's share of writes.
func (s *Service) RateLimitsOf(p partner.Partner) RateLimits {
	if p.RateLimitPerMinute <= 0 {
		return s.deps.Limits
	}
	own := RateLimits{PerMinute: p.RateLimitPerMinute, WritesPerMinute: p.RateLimitPerMinute}
	if s.deps.Limits.PerMinute > 0 {
		own.WritesPerMinute = max(1, p.RateLimitPerMinute*s.deps.Limits.WritesPerMinute/s.deps.Limits.PerMinute)
	}
	return own
}

// The names of a partner's rate limits in responses (api.md §1, "Rate limits").
const (
	allRequests   = "default"
	writeRequests = "writes"
)

// The explanations of webhooks and connect URLs that a partner may request in a minute.
const SignatureExplanationsPerMinute = 30

// SignatureExplanationLimitRule limits requests for explanations beside the limits of every request.
func SignatureExplanationLimitRule(p partner.Partner, perMinute int) ports.LimitRule {
	return ports.LimitRule{Name: "explain", Key: ports.PartnerLimitKey(p.ID), PerMinute: perMinute}
}

// Test deliveries and redeliveries of webhooks have limits of their own, because they are sent before all others.
const (
	TestDeliveriesPerMinute = 20
	RedeliveriesPerMinute   = 60
)

// TestDeliveryLimitRule limits test deliveries beside the limits of every request.
func TestDeliveryLimitRule(p partner.Partner) ports.LimitRule {
	return ports.LimitRule{Name: "tests", Key: ports.PartnerLimitKey(p.ID), PerMinute: TestDeliveriesPerMinute}
}

// RedeliveryLimitRule limits redeliveries beside the limits of every request.
func RedeliveryLimitRule(p partner.Partner) ports.LimitRule {
	return ports.LimitRule{Name: "redeliveries", Key: ports.PartnerLimitKey(p.ID), PerMinute: RedeliveriesPerMinute}
}

// LimitRulesOf returns the rate limits of a partner's request; one that writes counts against the limit of writes
// too.
func (s *Service) LimitRulesOf(p partner.Partner, writes bool) []ports.LimitRule {
	limits, key := s.RateLimitsOf(p), ports.PartnerLimitKey(p.ID)
	rules := make([]ports.LimitRule, 1, 2)
	rules[0] = ports.LimitRule{Name: allRequests, Key: key, PerMinute: limits.PerMinute, Tallied: true}
	if writes {
		rules = append(rules,
			ports.LimitRule{Name: writeRequests, Key: key, PerMinute: limits.WritesPerMinute, Tallied: true})
	}
	return rules
}

// SetRateLimit sets a partner's own requests per minute; 0 restores the default.
//
// Returns invalid_field or partner_not_found.
func (s *Service) SetRateLimit(ctx context.Context, slug string, perMinute int) error {
	if err := validRateLimit(perMinute); err != nil {
		return err
	}
	detail := map[string]string{"perMinute": number(perMinute)}
	return s.change(ctx, slug, audit.PartnerSetRateLimit, detail, func(ctx context.Context, p partner.Partner) error {
		return s.deps.Partners.SetRateLimit(ctx, p.ID, perMinute)
	})
}

func validRateLimit(perMinute int) error {
	const most = 1_000_000
	if perMinute < 0 || perMinute > most {
		return fault.ErrInvalidField.WithField("per-minute", "must be 0 (the default) to %d", most)
	}
	return nil
}
