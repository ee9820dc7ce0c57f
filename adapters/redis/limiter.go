package redis

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"partnerdeposits/ports"
	"partnerdeposits/ports/batch"
)

//go:embed limiter.lua
var limiterLua string

var limiterScript = redis.NewScript(limiterLua)

// refundScript takes back the newest count that limiter.lua made under one key.
var refundScript = redis.NewScript(`
local newest
for _, bucket in ipairs(redis.call('HKEYS', KEYS[1])) do
    if not newest or tonumber(bucket) > tonumber(newest) then newest = bucket end
end
if newest and redis.call('HINCRBY', KEYS[1], newest, -1) <= 0 then redis.call('HDEL', KEYS[1], newest) end
return 0`)

// batchLimit bounds how many requests one command counts.
const batchLimit = 256

// Limiter counts requests in a sliding window of a minute or an hour, in a single round trip for all rules of a key.
type Limiter struct {
	client     redis.UniversalClient
	breaker    *Breaker
	onFailOpen func()
	queue      batch.Queue[*counting]
}

// NewLimiter makes a limiter. onFailOpen is called for each request that was let through uncounted.
func NewLimiter(client redis.UniversalClient, breaker *Breaker, onFailOpen func()) *Limiter {
	l := &Limiter{client: client, breaker: breaker, onFailOpen: onFailOpen}
	l.queue.Workers, l.queue.Limit, l.queue.Run = 1, batchLimit, l.countBatch
	return l
}

// Allow counts a request under every rule and allows the request only if all rules do. A refused request is not
// counted.
func (l *Limiter) Allow(ctx context.Context, rules ...ports.LimitRule) ports.LimitDecision {
	if len(rules) == 0 {
		return ports.LimitDecision{Allowed: true}
	}
	var decision ports.LimitDecision
	var counted [][]ports.LimitRule
	for _, group := range byKey(rules) {
		d, err := l.count(ctx, group)
		if err != nil {
			l.onFailOpen()
			return failOpen(rules[0])
		}
		if !d.Allowed {
			l.Refund(ctx, slices.Concat(counted...)...)
			return d
		}
		if counted == nil || d.Remaining < decision.Remaining {
			decision = d
		}
		counted = append(counted, group)
	}
	return decision
}

// failOpen is the decision while Redis cannot be reached: the request is allowed and not counted.
func failOpen(r ports.LimitRule) ports.LimitDecision {
	most, _ := r.Bound()
	return ports.LimitDecision{Allowed: true, Name: r.Name, Most: most, Remaining: most}
}

// byKey groups rules that share a key. In a cluster only the rules of a single key live on the same node, so a command
// can count only them. When a later group refuses the request, the counts of the earlier groups are taken back.
func byKey(rules []ports.LimitRule) [][]ports.LimitRule {
	var groups [][]ports.LimitRule
next:
	for _, r := range rules {
		for i := range groups {
			if groups[i][0].Key == r.Key {
				groups[i] = append(groups[i], r)
				continue next
			}
		}
		groups = append(groups, []ports.LimitRule{r})
	}
	return groups
}

// keyOf keeps all rules of a key in the same slot of a cluster.
func keyOf(r ports.LimitRule) string { return "svc:limit:{" + r.Key + "}:" + r.Name }

// counting is a request with its decision.
type counting struct {
	ctx      context.Context
	rules    []ports.LimitRule
	decision ports.LimitDecision
	err      error
}

// count sends a single command for all requests under the same rules that arrive while the command before is running.
func (l *Limiter) count(ctx context.Context, rules []ports.LimitRule) (ports.LimitDecision, error) {
	c := &counting{ctx: ctx, rules: rules}
	l.queue.Do(ruleKey(rules), c)
	return c.decision, c.err
}

// ruleKey is equal for requests that are counted under the same rules.
func ruleKey(rules []ports.LimitRule) string {
	b := make([]byte, 0, 64)
	for _, r := range rules {
		b = append(append(append(append(b, r.Key...), 0), r.Name...), 0)
		most, window := r.Bound()
		b = append(strconv.AppendInt(b, int64(most), 10), 0)
		b = append(strconv.AppendInt(b, window.Milliseconds(), 10), 0)
	}
	return string(b)
}

// countBatch counts requests under the same rules in a single command.
func (l *Limiter) countBatch(requests []*counting) {
	rules := requests[0].rules
	keys, args := make([]string, len(rules)), make([]any, 1, 1+2*len(rules))
	args[0] = len(requests)
	for i, r := range rules {
		most, window := r.Bound()
		keys[i], args = keyOf(r), append(args, most, window.Milliseconds())
	}
	const perRule = 3
	var reply []int64
	err := l.breaker.Do(requests[0].ctx, func(ctx context.Context) (err error) {
		reply, err = limiterScript.Run(ctx, l.client, keys, args...).Int64Slice()
		return err
	})
	if err == nil && len(reply) != 1+perRule*len(rules) {
		err = fmt.Errorf("redis: the limiter gave %d numbers", len(reply))
	}
	for i, c := range requests {
		if c.err = err; err == nil {
			c.decision = decide(rules, reply[1:], int(reply[0]), i)
		}
	}
}

// decide gives the decision on the nth request of a batch, the first `allowed` of which are allowed.
func decide(rules []ports.LimitRule, reply []int64, allowed, nth int) ports.LimitDecision {
	var tightest ports.LimitDecision
	for i, r := range rules {
		of := reply[3*i:]
		most, _ := r.Bound()
		d := ports.LimitDecision{
			Allowed: nth < allowed, Name: r.Name, Most: most, Remaining: int(of[0]),
			Reset: time.Duration(of[1]) * time.Millisecond, RetryAfter: time.Duration(of[2]) * time.Millisecond,
		}
		if d.Allowed {
			d.Remaining += allowed - 1 - nth // before the later requests of the batch were counted
			d.RetryAfter = 0
		}
		if i == 0 || tighter(d, tightest) {
			tightest = d
		}
	}
	return tightest
}

// tighter orders by the wait when refused, and by the remaining requests when allowed.
func tighter(a, b ports.LimitDecision) bool {
	if !a.Allowed {
		return a.RetryAfter > b.RetryAfter
	}
	return a.Remaining < b.Remaining
}

// Refund takes back a count of each rule.
func (l *Limiter) Refund(ctx context.Context, rules ...ports.LimitRule) {
	for _, r := range rules {
		_ = l.breaker.Do(ctx, func(ctx context.Context) error { // a count that stays expires with its window
			return refundScript.Run(ctx, l.client, []string{keyOf(r)}).Err()
		})
	}
}
