package redis

import (
	"context"
	_ "embed"
	"time"

	"github.com/redis/go-redis/v9"

	ports "partnerdeposits/ports/platform"
)

//go:embed limiter.lua
var limiterLua string

var limiterScript = redis.NewScript(limiterLua)

// Limiter is the rate limiter: it counts requests in Redis in a sliding window of a minute or an hour.
type Limiter struct {
	client     redis.UniversalClient
	breaker    *Breaker
	onFailOpen func()
	tallies    *tallies
	cluster    bool
}

// NewLimiter makes a rate limiter. onFailOpen is called for each request that was allowed without being counted,
// because Redis was unreachable.
func NewLimiter(client redis.UniversalClient, breaker *Breaker, onFailOpen func()) *Limiter {
	l := &Limiter{client: client, breaker: breaker, onFailOpen: onFailOpen}
	_, l.cluster = client.(*redis.ClusterClient)
	l.tallies = newTallies(l.tell)
	return l
}

// Allow counts a request under every rate limit and allows the request only if all limits do. A refused request is
// not counted.
func (l *Limiter) Allow(ctx context.Context, rules ...ports.LimitRule) (decision ports.LimitDecision) {
	if len(rules) == 0 {
		return ports.LimitDecision{Allowed: true}
	}
	var counted []ports.LimitRule
	for _, group := range byKey(rules) {
		d, replied := l.count(ctx, group)
		if !replied {
			return failOpen(rules[0])
		}
		if !d.Allowed {
			l.Uncount(ctx, counted...)
			return d
		}
		if counted == nil || d.Remaining < decision.Remaining {
			decision = d
		}
		counted = append(counted, group...)
	}
	return decision
}

// count counts a request under rate limits of the same key: in this process if the limits permit that and have
// room, and otherwise in Redis. replied is false if Redis sent no reply.
func (l *Limiter) count(ctx context.Context, rules []ports.LimitRule) (d ports.LimitDecision, replied bool) {
	var all []*counting
	var local []*tally
	if tallied(rules) {
		local = l.tallies.of(rules)
		if d, counted := l.tallies.count(local); counted {
			return d, true
		}
		all = l.tallies.take(local, 1)
	}
	ask := &counting{rules: rules, tallies: local, asked: 1}
	l.send(ctx, append(all, ask))
	if ask.reply == nil {
		return d, false
	}
	return ask.decision(), true
}

// tell makes Redis count the requests that only this process has counted.
func (l *Limiter) tell(untold []*tally) {
	groups := map[string][]*tally{}
	for _, t := range untold {
		key := ""
		if l.cluster {
			// No count waits for an unreachable node of another key.
			key = t.rule.Key
		}
		groups[key] = append(groups[key], t)
	}
	for _, group := range groups {
		go l.send(context.Background(), l.tallies.take(group, 0))
	}
}

// failOpen returns the decision while Redis is unreachable: the request is allowed and not counted.
func failOpen(r ports.LimitRule) ports.LimitDecision {
	most, _ := r.LimitAndWindow()
	return ports.LimitDecision{Allowed: true, Name: r.Name, Max: most, Remaining: most}
}

// byKey groups rate limits by their key. In a cluster only the limits of the same key are on the same node, so one
// command can count only them.
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

// counting is a run of the script limiter.lua, which counts requests under rate limits of the same key.
type counting struct {
	rules   []ports.LimitRule
	tallies []*tally // The local counts of the rate limits; nil if these limits are counted in Redis only.
	asked   int      // 1 for a request that waits for the decision of Redis.
	told    int      // The number of earlier requests that only this process has counted.
	// The numbers that Redis returned: allowed requests, then perRule for each rate limit; nil if Redis sent none.
	reply []int64
}

// perRule is how many numbers limiter.lua returns for a rate limit: requests left, time to reset, and wait.
const perRule = 3

// send runs limiter.lua for all countings in turn, in a single round trip to Redis.
func (l *Limiter) send(ctx context.Context, all []*counting) {
	if len(all) == 0 {
		return
	}
	began := time.Now()
	_ = l.breaker.Do(ctx, func(ctx context.Context) error {
		pipe := l.client.Pipeline()
		for _, c := range all {
			keys, args := arguments(c.asked+c.told, c.rules)
			limiterScript.EvalSha(ctx, pipe, keys, args...)
		}
		cmds, err := pipe.Exec(ctx)
		for i, c := range all {
			cmd, _ := cmds[i].(*redis.Cmd)
			if redis.HasErrorPrefix(cmd.Err(), "NOSCRIPT") {
				keys, args := arguments(c.asked+c.told, c.rules)
				cmd = limiterScript.Eval(ctx, l.client, keys, args...)
				err = cmd.Err()
			}
			// A command of the pipeline may have succeeded beside one that failed.
			if reply, _ := cmd.Int64Slice(); len(reply) == 1+perRule*len(c.rules) {
				c.reply = reply
			}
		}
		return err
	})
	l.tallies.learn(all, began)
	for range uncounted(all) {
		l.onFailOpen()
	}
}

// uncounted returns how many requests Redis did not count.
func uncounted(all []*counting) (n int) {
	told := map[string]int{}
	for _, c := range all {
		if c.reply == nil {
			n += c.asked
			// A request under two rate limits is in two local counts, so the largest number counts and not the sum.
			told[c.rules[0].Key] = max(told[c.rules[0].Key], c.told)
		}
	}
	for _, requests := range told {
		n += requests
	}
	return n
}

// arguments returns the keys and arguments of the script limiter.lua. A negative number of requests takes back the
// newest count.
func arguments(requests int, rules []ports.LimitRule) (keys []string, args []any) {
	keys, args = make([]string, len(rules)), make([]any, 1, 1+2*len(rules))
	args[0] = requests
	for i, r := range rules {
		most, window := r.LimitAndWindow()
		keys[i], args = "svc:rate:{"+r.Key+"}:"+r.Name, append(args, most, window.Milliseconds())
	}
	return keys, args
}

// decision returns the decision on the request that waits for it: that of the tightest rate limit.
func (c *counting) decision() (tightest ports.LimitDecision) {
	for i, r := range c.rules {
		of := c.reply[1+perRule*i:]
		most, _ := r.LimitAndWindow()
		d := ports.LimitDecision{
			Allowed: c.reply[0] > 0, Name: r.Name, Max: most, Remaining: int(of[0]),
			Reset: time.Duration(of[1]) * time.Millisecond, RetryAfter: time.Duration(of[2]) * time.Millisecond,
		}
		if i == 0 || tighter(d, tightest) {
			tightest = d
		}
	}
	return tightest
}

// tighter reports whether decision a restricts the caller more than b: a longer wait if a refuses, or fewer
// requests left if a allows.
func tighter(a, b ports.LimitDecision) bool {
	if !a.Allowed {
		return a.RetryAfter > b.RetryAfter
	}
	return a.Remaining < b.Remaining
}

func (l *Limiter) Uncount(ctx context.Context, rules ...ports.LimitRule) {
	for _, r := range rules {
		// The error is ignored: a counted request that is not taken back expires with its window.
		_ = l.breaker.Do(ctx, func(ctx context.Context) error {
			keys, args := arguments(-1, []ports.LimitRule{r})
			return limiterScript.Run(ctx, l.client, keys, args...).Err()
		})
	}
}
