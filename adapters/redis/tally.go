package redis

import (
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	ports "partnerdeposits/ports/platform"
)

const (
	// tallyLinger is the longest time between counting a request in this process and counting it in Redis.
	tallyLinger = 200 * time.Millisecond
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
	now, before map[string]*tally // Local counts by the name of their rate limit: recently used ones and older ones.
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
	counted int
	telling int
	asking  int // The number of further requests that Redis was asked to count and whose reply is outstanding.
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
		s.before, s.now, s.turned = s.now, map[string]*tally{}, time.Now()
	}
	all := make([]*tally, len(rules))
	for i, r := range rules {
		most, window := r.LimitAndWindow()
		name := keyOf(r) + ":" + strconv.Itoa(most) + ":" + window.String()
		t := s.now[name]
		if t == nil {
			if t = s.before[name]; t == nil {
				t = &tally{rule: r}
			}
			s.now[name] = t
		}
		all[i] = t
	}
	return all
}

func (s *tallies) count(all []*tally) (d ports.LimitDecision, counted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range all {
		if t.counted+t.asking >= t.room || time.Since(t.at) >= tallyTrust {
			return d, false
		}
	}
	for i, t := range all {
		if t.counted == t.telling {
			if s.untold = append(s.untold, t); len(s.untold) == 1 {
				time.AfterFunc(tallyLinger, s.tellAll)
			}
		}
		t.counted++
		most, window := t.rule.LimitAndWindow()
		of := ports.LimitDecision{Allowed: true, Name: t.rule.Name, Max: most, Remaining: t.left - t.counted, Reset: window}
		if i == 0 || tighter(of, d) {
			d = of
		}
	}
	return d, true
}

func (s *tallies) asks(c *counting) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range c.tallies {
		t.asking += c.requests
	}
}

type telling struct {
	*tally
	requests int
	cmd      *redis.Cmd
}

func (s *tallies) take(all []*tally) (tells []*telling) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range all {
		if n := t.counted - t.telling; n > 0 {
			tells = append(tells, &telling{tally: t, requests: n})
			t.telling = t.counted
		}
	}
	return tells
}

// learn takes over from the reply of Redis how many requests each rate limit has left.
func (s *tallies) learn(c *counting) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range c.tells {
		t.counted, t.tally.telling = t.counted-t.requests, t.tally.telling-t.requests
	}
	for i, t := range c.tallies {
		t.asking -= c.requests
		if c.reply == nil || c.untold() > 0 {
			t.at, t.room = time.Time{}, 0
			continue
		}
		most, _ := t.rule.LimitAndWindow()
		t.left, t.at = int(c.reply.numbers[perRule*i]), time.Now()
		t.room = (t.left - most/2) / tallyShare
	}
}

func (s *tallies) tellAll() {
	s.mu.Lock()
	byKey := map[string][]*tally{}
	for _, t := range s.untold {
		byKey[t.rule.Key] = append(byKey[t.rule.Key], t)
	}
	s.untold = nil
	s.mu.Unlock()
	for _, untold := range byKey {
		go s.tell(untold)
	}
}
