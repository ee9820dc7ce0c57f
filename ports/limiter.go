package ports

import (
	"context"
	"time"
)

// Limiter counts requests against a limit. Without Redis it lets everything through and says so in a metric.
type Limiter interface {
	// Allow counts one request under every rule and allows it only if all do; a refused request counts nowhere.
	Allow(ctx context.Context, rules ...LimitRule) LimitDecision
}

// LimitRule bounds one key.
type LimitRule struct {
	Name      string // policy name in the RateLimit headers: "default", "writes"
	Key       string // what is counted: a partner, an address, an e-mail
	PerMinute int
}

// LimitDecision is the tightest of the rules.
type LimitDecision struct {
	Allowed    bool
	Name       string
	PerMinute  int
	Remaining  int
	Reset      time.Duration // until the quota is whole again
	RetryAfter time.Duration // when refused
}
