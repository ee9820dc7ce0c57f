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
	// batchLimit bounds the requests of a round trip.
	batchLimit = 256
	// batchThreshold is the number of requests that wait before a second round trip begins; a large batch costs less per
	// request.
	batchThreshold = 64
	batchWorkers   = 2
)

// Limiter counts requests in a sliding window of a minute or an hour. Requests that arrive together share a round trip,
// and those under the same rules a command.
type Limiter struct {
	client     redis.UniversalClient
	breaker    *Breaker
	onFailOpen func()
	queue      batch.Queue[*counting]
	tallies    tallies
	cluster    bool
}

// NewLimiter makes a limiter. onFailOpen is called for each request that was let through uncounted.
func NewLimiter(client redis.UniversalClient, breaker *Breaker, onFailOpen func()) *Limiter {
	l := &Limiter{client: client, breaker: breaker, onFailOpen: onFailOpen}
	_, l.cluster = client.(*redis.ClusterClient)
	l.queue.Workers, l.queue.Limit, l.queue.Threshold, l.queue.Run = batchWorkers, batchLimit, batchThreshold, l.countBatch
	l.tallies.tell = l.tell
	return l
}

// Allow counts a request under every rule and allows the request only if all rules do. A refused request is not
// counted.
func (l *Limiter) Allow(ctx context.Context, rules ...ports.LimitRule) ports.LimitDecision {
	decision, _ := l.allow(ctx, "", rules)
	return decision
}

// allow is Allow, and also reads the key `wanted` unless wanted is empty. read is empty where the key does not exist.
func (l *Limiter) allow(ctx context.Context, wanted string,
	rules []ports.LimitRule) (decision ports.LimitDecision, read string) {
	if len(rules) == 0 {
		return ports.LimitDecision{Allowed: true}, ""
	}
	var counted [][]ports.LimitRule
	for _, group := range byKey(rules) {
		c := &counting{ctx: ctx, rules: group, requests: 1, wanted: wanted}
		l.count(c)
		wanted, read = "", read+c.read // the first group has read the key
		if c.err != nil {
			return failOpen(rules[0]), read
		}
		if !c.decision.Allowed {
			l.Refund(ctx, slices.Concat(counted...)...)
			return c.decision, read
		}
		if counted == nil || c.decision.Remaining < decision.Remaining {
			decision = c.decision
		}
		counted = append(counted, group)
	}
	return decision, read
}

// count counts a request in the tallies of its rules, or in Redis if the rules have no tallies or no room there.
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

// askWith counts a request in Redis, after the earlier requests that only the tallies have counted.
func (l *Limiter) askWith(c *counting, all []*tally) {
	c.tallies = all
	l.tallies.asks(c)
	l.ask(c)
}

// ask counts a request in Redis.
func (l *Limiter) ask(c *counting) {
	l.queue.Do(l.together(c.rules), c)
	uncounted := c.untold()
	if c.err != nil {
		uncounted += c.requests
	}
	for range uncounted {
		l.onFailOpen()
	}
}

// tell has Redis count the requests that only these tallies have counted. The tallies share a key.
func (l *Limiter) tell(untold []*tally) {
	c := &counting{ctx: context.Background()}
	for _, t := range untold {
		c.rules = append(c.rules, t.rule)
	}
	l.askWith(c, untold)
}

// together names the group of requests that share a round trip to Redis. In a cluster only requests with the same key
// share a round trip, since a request to a node that answers must not wait for a node that is away.
func (l *Limiter) together(rules []ports.LimitRule) string {
	if l.cluster {
		return rules[0].Key
	}
	return ""
}

// failOpen is the decision while Redis cannot be reached: the request is allowed and not counted.
func failOpen(r ports.LimitRule) ports.LimitDecision {
	most, _ := r.Bound()
	return ports.LimitDecision{Allowed: true, Name: r.Name, Max: most, Remaining: most}
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
func keyOf(r ports.LimitRule) string { return "svc:rate:{" + r.Key + "}:" + r.Name }

// counting is a request with its decision, or tells Redis of earlier requests alone.
type counting struct {
	ctx      context.Context
	rules    []ports.LimitRule
	requests int        // 0 or 1
	tallies  []*tally   // of the rules; nil: they are not tallied
	tells    []*telling // of the tallies, counted before the request
	wanted   string     // a key to read; "": none
	read     string     // its value; "": the key does not exist, or could not be read
	decision ports.LimitDecision
	reply    *limiterReply // nil: Redis gave none, or was not asked
	err      error
}

// untold is how many earlier requests Redis did not count.
func (c *counting) untold() (n int) {
	for _, t := range c.tells {
		if t.cmd == nil || t.cmd.Err() != nil {
			n = max(n, t.requests) // a request under two rules is in two tallies
		}
	}
	return n
}

// limiterReply is the answer of limiter.lua.
type limiterReply struct {
	allowed int     // requests
	numbers []int64 // perRule for each rule
}

// perRule is how many numbers limiter.lua gives for a rule.
const perRule = 3

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

// sameRules are requests of a batch under the same rules, with the commands that serve them.
type sameRules struct {
	requests []*counting
	counts   *redis.Cmd
	reads    *redis.SliceCmd // of the requests that want a key; nil: none does
}

// countBatch counts requests in a single round trip, with a command for those under the same rules, after a command for
// each tally, and reads the keys that the requests want.
func (l *Limiter) countBatch(requests []*counting) {
	groups := make(map[string]*sameRules, 1)
	for _, c := range requests {
		c.tells = l.tallies.take(c.tallies) // just before the pipeline, so that Redis counts earlier requests first
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
	for _, c := range requests { // before a caller counts its next request
		l.tallies.learn(c)
	}
}

// send runs limiter.lua in a pipeline: first for the earlier requests of each tally, then for each group of requests. A
// server that does not have the script gets its text.
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

// arguments are those of limiter.lua.
func (g *sameRules) arguments() (keys []string, args []any) {
	n := 0
	for _, c := range g.requests {
		n += c.requests
	}
	return arguments(n, g.requests[0].rules)
}

// arguments are those of limiter.lua. Requests below 0 take back the newest count.
func arguments(requests int, rules []ports.LimitRule) (keys []string, args []any) {
	keys, args = make([]string, len(rules)), make([]any, 1, 1+2*len(rules))
	args[0] = requests
	for i, r := range rules {
		most, window := r.Bound()
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

// settle gives each request its result. err is the error of the whole pipeline, in which a command may have succeeded
// beside one that failed.
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
		read = g.reads.Val() // none after an error
	}
	nth := 0
	for _, c := range g.requests {
		if c.err = err; err == nil {
			c.reply = &limiterReply{int(reply[0]), reply[1:]}
			c.decision = c.reply.decide(rules, nth)
		}
		nth += c.requests
		if c.wanted != "" && len(read) > 0 {
			c.read, _ = read[0].(string) // nil where the key does not exist
			read = read[1:]
		}
	}
}

// decide gives the decision on the nth request of a batch, the first of which are allowed.
func (l *limiterReply) decide(rules []ports.LimitRule, nth int) ports.LimitDecision {
	var tightest ports.LimitDecision
	for i, r := range rules {
		of := l.numbers[perRule*i:]
		most, _ := r.Bound()
		d := ports.LimitDecision{
			Allowed: nth < l.allowed, Name: r.Name, Max: most, Remaining: int(of[0]),
			Reset: time.Duration(of[1]) * time.Millisecond, RetryAfter: time.Duration(of[2]) * time.Millisecond,
		}
		if d.Allowed {
			d.Remaining += l.allowed - 1 - nth // before the later requests of the batch were counted
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
			keys, args := arguments(-1, []ports.LimitRule{r})
			return limiterScript.Run(ctx, l.client, keys, args...).Err()
		})
	}
}
