package redis

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"partnerdeposits/adapters/internal/gather"
	"partnerdeposits/ports"
)

//go:embed limiter.lua
var limiterLua string

var limiterScript = redis.NewScript(limiterLua)

// refundLua takes back what limiter.lua counted last under one key.
var refundScript = redis.NewScript(`
local newest
for _, bucket in ipairs(redis.call('HKEYS', KEYS[1])) do
    if not newest or tonumber(bucket) > tonumber(newest) then newest = bucket end
end
if newest and redis.call('HINCRBY', KEYS[1], newest, -1) <= 0 then redis.call('HDEL', KEYS[1], newest) end
return 0`)

// crewMost bounds how many requests are counted at once.
const crewMost = 256

// Limiter counts requests in a sliding window of a minute, in one round trip for all rules of one key.
type Limiter struct {
	client     redis.UniversalClient
	guard      *Guard
	onFailOpen func()
	queue      gather.Queue[*counting]
}

// NewLimiter makes a limiter. onFailOpen is called for each request that was let through uncounted.
func NewLimiter(client redis.UniversalClient, guard *Guard, onFailOpen func()) *Limiter {
	l := &Limiter{client: client, guard: guard, onFailOpen: onFailOpen}
	l.queue.Places, l.queue.Most, l.queue.Run = 1, crewMost, l.countAll
	return l
}

// Allow counts one request under every rule and allows it only if all do; a refused request counts nowhere.
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
			return open(rules[0])
		}
		if !d.Allowed {
			l.refund(ctx, counted)
			return d
		}
		if counted == nil || d.Remaining < decision.Remaining {
			decision = d
		}
		counted = append(counted, group)
	}
	return decision
}

// open is the decision without Redis.
func open(r ports.LimitRule) ports.LimitDecision {
	return ports.LimitDecision{Allowed: true, Name: r.Name, PerMinute: r.PerMinute, Remaining: r.PerMinute}
}

// byKey groups rules that share a key: in a cluster only those live in one place, so only those can be counted in one
// go. Of several groups, a later refusal takes the earlier counts back.
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

// keyOf keeps all rules of a key in one slot of a cluster.
func keyOf(r ports.LimitRule) string { return "svc:limit:{" + r.Key + "}:" + r.Name }

// counting is one request on its way through count.
type counting struct {
	ctx      context.Context
	rules    []ports.LimitRule
	decision ports.LimitDecision
	err      error
}

// count asks Redis, once for all requests under the same rules that come while it is being asked.
func (l *Limiter) count(ctx context.Context, rules []ports.LimitRule) (ports.LimitDecision, error) {
	c := &counting{ctx: ctx, rules: rules}
	l.queue.Do(likeness(rules), c)
	return c.decision, c.err
}

// likeness is the same for requests that are counted alike.
func likeness(rules []ports.LimitRule) string {
	b := make([]byte, 0, 64)
	for _, r := range rules {
		b = append(append(append(append(b, r.Key...), 0), r.Name...), 0)
		b = append(strconv.AppendInt(b, int64(r.PerMinute), 10), 0)
	}
	return string(b)
}

// countAll counts a crew of requests under the same rules.
func (l *Limiter) countAll(crew []*counting) {
	rules := crew[0].rules
	keys, args := make([]string, len(rules)), make([]any, 1+len(rules))
	args[0] = len(crew)
	for i, r := range rules {
		keys[i], args[1+i] = keyOf(r), r.PerMinute
	}
	const perRule = 3
	var reply []int64
	err := l.guard.Do(crew[0].ctx, func(ctx context.Context) (err error) {
		reply, err = limiterScript.Run(ctx, l.client, keys, args...).Int64Slice()
		return err
	})
	if err == nil && len(reply) != 1+perRule*len(rules) {
		err = fmt.Errorf("redis: the limiter gave %d numbers", len(reply))
	}
	for i, c := range crew {
		if c.err = err; err == nil {
			c.decision = decide(rules, reply[1:], int(reply[0]), i)
		}
	}
}

// decide gives the decision on the nth of a crew, of whom the first allowed are allowed.
func decide(rules []ports.LimitRule, reply []int64, allowed, nth int) ports.LimitDecision {
	var tightest ports.LimitDecision
	for i, r := range rules {
		of := reply[3*i:]
		d := ports.LimitDecision{
			Allowed: nth < allowed, Name: r.Name, PerMinute: r.PerMinute, Remaining: int(of[0]),
			Reset: time.Duration(of[1]) * time.Millisecond, RetryAfter: time.Duration(of[2]) * time.Millisecond,
		}
		if d.Allowed {
			d.Remaining += allowed - 1 - nth // what those behind it have taken was there
			d.RetryAfter = 0
		}
		if i == 0 || tighter(d, tightest) {
			tightest = d
		}
	}
	return tightest
}

// tighter orders by the wait when refused, and by what remains when allowed.
func tighter(a, b ports.LimitDecision) bool {
	if !a.Allowed {
		return a.RetryAfter > b.RetryAfter
	}
	return a.Remaining < b.Remaining
}

func (l *Limiter) refund(ctx context.Context, groups [][]ports.LimitRule) {
	for _, group := range groups {
		for _, r := range group {
			_ = l.guard.Do(ctx, func(ctx context.Context) error { // a count too many passes within a minute
				return refundScript.Run(ctx, l.client, []string{keyOf(r)}).Err()
			})
		}
	}
}
