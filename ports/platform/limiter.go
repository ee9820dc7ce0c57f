package platform

import (
	"context"
	"time"

	"partnerdeposits/core/id"
)

// Limiter counts requests against limits. While Redis is away, the limiter allows every request and counts that in a
// metric (api.md §1, "Rate limits").
type Limiter interface {
	// Allow counts a request under every rule if all rules allow the request. A refused request is not counted.
	Allow(ctx context.Context, rules ...LimitRule) LimitDecision
	// Refund takes back a request that Allow counted under every rule, because the request turned out to be harmless. A
	// refund that is lost costs the key a request until the window has passed.
	Refund(ctx context.Context, rules ...LimitRule)
}

// LimitRule bounds the requests of a key, in a minute or in an hour.
type LimitRule struct {
	Name      string // of the rule, as its decisions have it
	Key       string // a partner, an address, or an e-mail
	PerMinute int    // 0: PerHour counts
	PerHour   int
	// Tallied: while more than half of the limit is left, a process may count requests itself, and tell the others of them
	// a moment later (docs/decisions/0006-request.md).
	Tallied bool
}

// PartnerLimitKey is the key of the rules for a partner's requests.
func PartnerLimitKey(partnerID id.ID) string { return "partner:" + partnerID.Encode() }

// Bound gives the most requests and the window in which they count.
func (r LimitRule) Bound() (limit int, window time.Duration) {
	if r.PerMinute == 0 {
		return r.PerHour, time.Hour
	}
	return r.PerMinute, time.Minute
}

// LimitDecision is the answer of the rule with the fewest requests left.
type LimitDecision struct {
	Allowed    bool
	Name       string
	Max        int // of the rule, in its window
	Remaining  int
	Reset      time.Duration // until the whole quota is available again
	RetryAfter time.Duration // 0 unless refused
}
