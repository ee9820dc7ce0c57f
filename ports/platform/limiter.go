package platform

import (
	"context"
	"time"

	"partnerdeposits/core/id"
)

// Limiter counts requests against rate limits. While Redis is unreachable, the limiter allows every request and
// counts that in a metric (api.md §1, "Rate limits").
type Limiter interface {
	// Allow counts a request under every rule if all rules allow the request. A refused request is not counted.
	Allow(ctx context.Context, rules ...LimitRule) LimitDecision
	// Uncount takes back a request that Allow has counted under every rule, because the request turned out to be
	// harmless. If a refund is lost, the key has a request less until its window has passed.
	Uncount(ctx context.Context, rules ...LimitRule)
}

// LimitRule is a rate limit: it bounds the requests of a caller in a minute or in an hour.
type LimitRule struct {
	Name string
	Key  string // The caller whose requests are counted: a partner, a network address, or an e-mail address.
	// The largest number of the caller's requests in a minute; 0: the limit is hourly (PerHour).
	PerMinute int
	PerHour   int
	// Whether a process may count requests by itself while more than half of the limit is left
	// (docs/decisions/0006-request.md).
	Tallied bool
}

// PartnerLimitKey returns the key under which a partner's requests are counted for rate limits.
func PartnerLimitKey(partnerID id.ID) string { return "partner:" + partnerID.Encode() }

// LimitAndWindow returns the most requests of a rate limit, and the time window in which they count.
func (r LimitRule) LimitAndWindow() (limit int, window time.Duration) {
	if r.PerMinute == 0 {
		return r.PerHour, time.Hour
	}
	return r.PerMinute, time.Minute
}

// LimitDecision is the result of a rate limit; of several rules, that of the rule with the fewest requests left.
type LimitDecision struct {
	Allowed   bool
	Name      string
	Max       int
	Remaining int
	Reset     time.Duration
	// How long a refused caller is to wait before the next request; 0 for an allowed request.
	RetryAfter time.Duration
}
