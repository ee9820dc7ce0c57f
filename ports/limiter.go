package ports

import (
	"context"
	"time"
)

// Limiter counts requests against limits. While Redis is away, the limiter allows every request and counts that in a metric
// (api.md §1, "Rate limits").
type Limiter interface {
	// Allow counts a request under every rule if all rules allow the request. A refused request is not counted.
	Allow(ctx context.Context, rules ...LimitRule) LimitDecision
}

// LimitRule bounds the requests of a key.
type LimitRule struct {
	Name      string // policy name in the RateLimit headers: "default", "writes"
	Key       string // a partner, an address, or an e-mail
	PerMinute int
}

// LimitDecision is the answer of the rule with the fewest requests left.
type LimitDecision struct {
	Allowed    bool
	Name       string
	PerMinute  int
	Remaining  int
	Reset      time.Duration // until the whole quota is available again
	RetryAfter time.Duration // 0 unless refused
}
