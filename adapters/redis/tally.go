package redis

import (
	"slices"
	"sync"
	"time"

	ports "partnerdeposits/ports/platform"
)

const (
	// linger is the longest time for which what Redis is to store waits in this process, to share a round trip: counts of
	// requests, and cached responses.
	linger = 200 * time.Millisecond
	// tallyTrust is the greatest age of a reply of Redis by which a process counts requests itself. Older replies
	// are unreliable, since other processes count under the same limit.
	tallyTrust = 3 * time.Second
	// tallyShare is the divisor of the requests that a limit has left above its half: the part that a process counts
	// before it makes Redis count.
	tallyShare = 8
)

// tallies count the requests of this process under rate limits of which more than half is left. Several processes
// may together exceed a limit whose second half the others have used since the last reply of Redis
// (docs/decisions/0006-request.md).
type tallies struct {
	tell func(untold []*tally)

	mu          sync.Mutex
	told        sync.Cond                  // Signalled when Redis has replied; its lock is mu.
	now, before map[ports.LimitRule]*tally // Recently used local counts and older ones.
	// When the two sets of local counts were last exchanged: the older set is dropped, and the newer becomes the
	// older.
	turned time.Time
	// The local counts with requests that Redis has not counted.
	untold []*tally
}

// tally holds what a process has counted under one rate limit since the last reply of Redis (a local count).
type tally struct {
	rule ports.LimitRule
	left int
	// The time of the last reply of Redis about the rate limit; zero if there is none or Redis is unreachable.
	at time.Time
	// How many requests this process may count under the rate limit before Redis has to count them.
	room    int
	counted int // The number of requests that only this process has counted.
	telling int // The number of requests that this process has counted and that are on their way to Redis.
	asking  int // The number of further requests that Redis was asked to count and whose reply is outstanding.
}

func newTallies(tell func(untold []*tally)) *tallies {
	s := &tallies{tell: tell}
	s.told.L = &s.mu
	return s
}

// tallied reports whether all the rate limits permit that requests are counted in this process first.
func tallied(rules []ports.LimitRule) bool {
	for _, r := range rules {
		if !r.Tallied {
			return false
		}
	}
	return true
}

func (s *tallies) of(rules []ports.LimitRule) []*tally {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.turned) >= tallyTrust {
		s.before, s.now, s.turned = s.now, map[ports.LimitRule]*tally{}, time.Now()
	}
	all := make([]*tally, len(rules))
	for i, r := range rules {
		t := s.now[r]
		if t == nil {
			if t = s.before[r]; t == nil {
				t = &tally{rule: r}
			}
			s.now[r] = t
		}
		all[i] = t
	}
	return all
}

func (s *tallies) count(all []*tally) (d ports.LimitDecision, counted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range all {
		if t.used() >= t.room || time.Since(t.at) >= tallyTrust {
			return d, false
		}
	}
	for i, t := range all {
		if t.counted == 0 {
			if s.untold = append(s.untold, t); len(s.untold) == 1 {
				time.AfterFunc(linger, s.tellAll)
			}
		}
		t.counted++
		most, window := t.rule.LimitAndWindow()
		of := ports.LimitDecision{Allowed: true, Name: t.rule.Name, Max: most, Remaining: t.left - t.used(), Reset: window}
		if i == 0 || tighter(of, d) {
			d = of
		}
	}
	return d, true
}

// used returns how many requests this process knows of beyond the last reply of Redis.
func (t *tally) used() int { return t.counted + t.telling + t.asking }

// take returns what makes Redis count the requests that only this process has counted, before Redis counts `asked`
// further ones. These wait for requests on their way to Redis, so that the decision is about all earlier ones.
func (s *tallies) take(all []*tally, asked int) (tells []*counting) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for asked > 0 && slices.ContainsFunc(all, func(t *tally) bool { return t.telling > 0 }) {
		s.told.Wait()
	}
	for _, t := range all {
		t.asking += asked
		if t.counted > 0 {
			tells = append(tells, &counting{rules: []ports.LimitRule{t.rule}, tallies: []*tally{t}, told: t.counted})
			t.telling, t.counted = t.telling+t.counted, 0
		}
	}
	return tells
}

// learn takes over from the replies of Redis how many requests each rate limit has left.
func (s *tallies) learn(all []*counting, began time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.told.Broadcast()
	for _, c := range all {
		for i, t := range c.tallies {
			t.asking, t.telling = t.asking-c.asked, t.telling-c.told
			if c.reply == nil {
				t.at, t.room = time.Time{}, 0
				continue
			}
			left := int(c.reply[1+perRule*i])
			if t.at.After(began) {
				// Another reply came meanwhile, and Redis may have counted in another order than the replies came.
				left = min(left, t.left)
			}
			most, _ := t.rule.LimitAndWindow()
			t.left, t.at, t.room = left, time.Now(), (left-most/2)/tallyShare
		}
	}
}

func (s *tallies) tellAll() {
	s.mu.Lock()
	untold := s.untold
	s.untold = nil
	s.mu.Unlock()
	s.tell(untold)
}
