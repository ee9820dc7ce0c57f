package redis

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	ports "partnerdeposits/ports/platform"
	"partnerdeposits/ports/platform/batch"
)

//go:embed limiter.lua
var limiterLua string

var limiterScript = redis.NewScript(limiterLua)

const (
	batchLimit = 256
	// batchThreshold is the number of waiting requests above which the rate limiter begins a second round trip to
	// Redis. A large batch costs less per request.
	batchThreshold = 64
	batchWorkers   = 2
)

// Limiter is the rate limiter: it counts requests in Redis in a sliding window of a minute or an hour, many of
// them in a single round trip.
type Limiter struct {
	client     redis.UniversalClient
	breaker    *Breaker
	onFailOpen func()
	queue      batch.Queue[*counting]
	tallies    tallies
	cluster    bool
}

// NewLimiter makes a rate limiter. onFailOpen is called for each request that was allowed without being counted,
// because Redis was unreachable.
func NewLimiter(client redis.UniversalClient, breaker *Breaker, onFailOpen func()) *Limiter {
	l := &Limiter{client: client, breaker: breaker, onFailOpen: onFailOpen}
	_, l.cluster = client.(*redis.ClusterClient)
	l.queue.Workers, l.queue.Limit, l.queue.Threshold, l.queue.Run = batchWorkers, batchLimit, batchThreshold, l.countBatch
	l.tallies.tell = l.tell
	return l
}

// Allow counts a request under every rate limit and allows the request only if all limits do. A refused request is
// not counted.
func (l *Limiter) Allow(ctx context.Context, rules ...ports.LimitRule) ports.LimitDecision {
	decision, _ := l.allow(ctx, "", rules)
	return decision
}

// allow does what Allow does, and in the same round trip reads the Redis key `wanted` unless wanted is empty.
func (l *Limiter) allow(ctx context.Context, wanted string,
	rules []ports.LimitRule) (decision ports.LimitDecision, read string) {
	if len(rules) == 0 {
		return ports.LimitDecision{Allowed: true}, ""
	}
	var counted [][]ports.LimitRule
	for _, group := range byKey(rules) {
		c := &counting{ctx: ctx, rules: group, requests: 1, wanted: wanted}
		l.count(c)
		// The wanted Redis key is read only once, together with the first group of rate limits.
		wanted, read = "", read+c.read
		if c.err != nil {
			return failOpen(rules[0]), read
		}
		if !c.decision.Allowed {
			l.Uncount(ctx, slices.Concat(counted...)...)
			return c.decision, read
		}
		if counted == nil || c.decision.Remaining < decision.Remaining {
			decision = c.decision
		}
		counted = append(counted, group)
	}
	return decision, read
}

// count counts a request under its rate limits: in this process if the limits permit that and have room, and
// otherwise in Redis.
func (l *Limiter) count(c *counting) {
	if !tallied(c.rules) {
		l.ask(c)
		return
	}
	all := l.tallies.of(c.rules)
	if c.wanted == "" {
		var done bool
		if c.decision, done = l.tallies.count(all); done {
			return
		}
	}
	l.askWith(c, all)
}

// askWith counts a request in Redis, after making Redis count the earlier requests that only this process has
// counted so far.
func (l *Limiter) askWith(c *counting, all []*tally) {
	c.tallies = all
	l.tallies.asks(c)
	l.ask(c)
}

func (l *Limiter) ask(c *counting) {
	l.queue.AddAndWait(l.together(c.rules), c)
	uncounted := c.untold()
	if c.err != nil {
		uncounted += c.requests
	}
	for range uncounted {
		l.onFailOpen()
	}
}

// tell makes Redis count the requests that only this process has counted. All given local counts (tallies) must
// be of the same caller's key.
func (l *Limiter) tell(untold []*tally) {
	c := &counting{ctx: context.Background()}
	for _, t := range untold {
		c.rules = append(c.rules, t.rule)
	}
	l.askWith(c, untold)
}

// together returns the name of the group of requests that share a round trip to Redis. In a cluster only requests
// with the same key share one, so that no request waits for an unreachable node of another key.
func (l *Limiter) together(rules []ports.LimitRule) string {
	if l.cluster {
		return rules[0].Key
	}
	return ""
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

func keyOf(r ports.LimitRule) string { return "svc:rate:{" + r.Key + "}:" + r.Name }

// counting is a request that the rate limiter counts, with its decision. With requests 0 it only makes Redis count
// earlier requests.
type counting struct {
	ctx      context.Context
	rules    []ports.LimitRule
	requests int
	// The local counts (tallies) of the rate limits; nil if these limits are counted in Redis only.
	tallies []*tally
	tells   []*telling // Numbers of earlier requests, counted locally, that Redis has to count before this request.
	wanted  string     // A Redis key to read in the round trip that counts the request; "" means none.
	// The value of the Redis key that was to be read; "" if the key does not exist or could not be read.
	read     string
	decision ports.LimitDecision
	// The reply of the limiter's script in Redis; nil if Redis sent none or received no command.
	reply *limiterReply
	err   error
}

// untold returns how many of the earlier, locally counted requests Redis did not count.
func (c *counting) untold() (n int) {
	for _, t := range c.tells {
		if t.cmd == nil || t.cmd.Err() != nil {
			// A request under two rate limits is in two local counts, so the largest number counts and not the sum.
			n = max(n, t.requests)
		}
	}
	return n
}

// limiterReply is the reply of the Redis script limiter.lua.
type limiterReply struct {
	allowed int
	// The numbers that Redis returned for each rate limit in turn, perRule of them: requests left, time to reset,
	// and wait.
	numbers []int64
}

// perRule is how many numbers the Redis script limiter.lua returns for a rate limit.
const perRule = 3

func ruleKey(rules []ports.LimitRule) string {
	b := make([]byte, 0, 64)
	for _, r := range rules {
		b = append(append(append(append(b, r.Key...), 0), r.Name...), 0)
		most, window := r.LimitAndWindow()
		b = append(strconv.AppendInt(b, int64(most), 10), 0)
		b = append(strconv.AppendInt(b, window.Milliseconds(), 10), 0)
	}
	return string(b)
}

// sameRules holds the requests of a batch that are under the same rate limits, and the Redis commands that count
// them.
type sameRules struct {
	requests []*counting
	counts   *redis.Cmd
	reads    *redis.SliceCmd
}

// countBatch counts requests by a single round trip to Redis and reads the Redis keys that they want.
func (l *Limiter) countBatch(requests []*counting) {
	groups := make(map[string]*sameRules, 1)
	for _, c := range requests {
		// Take the local counts just before the pipeline is sent, so that Redis counts the earlier requests first.
		c.tells = l.tallies.take(c.tallies)
		rules := ruleKey(c.rules)
		if groups[rules] == nil {
			groups[rules] = &sameRules{}
		}
		groups[rules].requests = append(groups[rules].requests, c)
	}
	err := l.breaker.Do(requests[0].ctx, func(ctx context.Context) error {
		return l.send(ctx, groups, requests)
	})
	for _, g := range groups {
		g.settle(err)
	}
	// Take over the replies before the callers return, so that their next requests are counted by the new numbers.
	for _, c := range requests {
		l.tallies.learn(c)
	}
}

// send runs the script limiter.lua in a pipeline of Redis commands: first for the earlier requests of each tally,
// then for each group of requests.
func (l *Limiter) send(ctx context.Context, groups map[string]*sameRules, requests []*counting) error {
	pipe := l.client.Pipeline()
	for _, c := range requests {
		for _, t := range c.tells {
			keys, args := arguments(t.requests, []ports.LimitRule{t.rule})
			t.cmd = pipe.EvalSha(ctx, limiterScript.Hash(), keys, args...)
		}
	}
	for _, g := range groups {
		keys, args := g.arguments()
		g.counts = pipe.EvalSha(ctx, limiterScript.Hash(), keys, args...)
		if wanted := g.wanted(); len(wanted) > 0 {
			g.reads = pipe.MGet(ctx, wanted...)
		}
	}
	_, err := pipe.Exec(ctx)
	for _, c := range requests {
		for _, t := range c.tells {
			if redis.HasErrorPrefix(t.cmd.Err(), "NOSCRIPT") {
				keys, args := arguments(t.requests, []ports.LimitRule{t.rule})
				t.cmd = limiterScript.Eval(ctx, l.client, keys, args...)
			}
		}
	}
	for _, g := range groups {
		if redis.HasErrorPrefix(g.counts.Err(), "NOSCRIPT") {
			keys, args := g.arguments()
			g.counts = limiterScript.Eval(ctx, l.client, keys, args...)
			err = g.counts.Err()
		}
	}
	return err
}

func (g *sameRules) arguments() (keys []string, args []any) {
	n := 0
	for _, c := range g.requests {
		n += c.requests
	}
	return arguments(n, g.requests[0].rules)
}

// arguments returns the keys and arguments of the script limiter.lua. A negative number of requests takes back the
// newest count.
func arguments(requests int, rules []ports.LimitRule) (keys []string, args []any) {
	keys, args = make([]string, len(rules)), make([]any, 1, 1+2*len(rules))
	args[0] = requests
	for i, r := range rules {
		most, window := r.LimitAndWindow()
		keys[i], args = keyOf(r), append(args, most, window.Milliseconds())
	}
	return keys, args
}

func (g *sameRules) wanted() []string {
	var names []string
	for _, c := range g.requests {
		if c.wanted != "" {
			names = append(names, c.wanted)
		}
	}
	return names
}

// settle sets the result of each request of a group. err is the error of the whole pipeline of Redis commands, in
// which a command may have succeeded beside one that failed.
func (g *sameRules) settle(err error) {
	rules := g.requests[0].rules
	var reply []int64
	if g.counts != nil {
		reply, err = g.counts.Int64Slice()
	}
	if err == nil && len(reply) != 1+perRule*len(rules) {
		err = fmt.Errorf("redis: the limiter gave %d numbers", len(reply))
	}
	var read []any
	if g.reads != nil {
		read = g.reads.Val() // After an error the Redis command has no values.
	}
	nth := 0
	for _, c := range g.requests {
		if c.err = err; err == nil {
			c.reply = &limiterReply{int(reply[0]), reply[1:]}
			c.decision = c.reply.decide(rules, nth)
		}
		nth += c.requests
		if c.wanted != "" && len(read) > 0 {
			c.read, _ = read[0].(string)
			read = read[1:]
		}
	}
}

// decide returns the rate limiter's decision on the nth request of a batch, counted from 0, of which Redis
// allowed the first ones.
func (l *limiterReply) decide(rules []ports.LimitRule, nth int) ports.LimitDecision {
	var tightest ports.LimitDecision
	for i, r := range rules {
		of := l.numbers[perRule*i:]
		most, _ := r.LimitAndWindow()
		d := ports.LimitDecision{
			Allowed: nth < l.allowed, Name: r.Name, Max: most, Remaining: int(of[0]),
			Reset: time.Duration(of[1]) * time.Millisecond, RetryAfter: time.Duration(of[2]) * time.Millisecond,
		}
		if d.Allowed {
			// Add what the later requests of the batch have used, so that each caller gets the number left after its
			// own.
			d.Remaining += l.allowed - 1 - nth
			d.RetryAfter = 0
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
