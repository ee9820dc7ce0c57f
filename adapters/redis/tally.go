package redis

import (
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	ports "partnerdeposits/ports/platform"
)

const (
	// tallyLinger is how long Redis does not know of a request that was counted here.
	tallyLinger = 200 * time.Millisecond
	// tallyTrust is how long an answer of Redis holds. Older than that, the other processes may have used up the limit.
	tallyTrust = 3 * time.Second
	// tallyShare is the part of what is left above half of a limit that a process may count without telling.
	tallyShare = 8
)

// tallies count requests without a round trip while their limits are far away: with more than half of each left. Redis
// is told with the next question about the requests' key, tallyLinger later at the latest. A process alone allows
// exactly what the limits allow. Several processes may allow more, but only of a limit whose second half the others
// have used since the last answer of Redis (docs/decisions/0047-requests-counted-later.md).
type tallies struct {
	tell func(untold []*tally) // tells Redis of the tallies of a key

	mu          sync.Mutex
	now, before map[string]*tally // by rule
	turned      time.Time         // when now became before
	untold      []*tally          // with requests to tell; not empty: tellAll will run
}

// tally is what a process knows about a rule.
type tally struct {
	rule    ports.LimitRule
	left    int       // by the last answer of Redis
	at      time.Time // of the answer; zero: none, or Redis is away
	room    int       // how many requests may be counted before Redis knows
	counted int       // requests since the answer
	telling int       // of them, those on their way to Redis
	asking  int       // further requests whose answer has not come
}

// tallied reports whether requests under the rules may be counted later.
func tallied(rules []ports.LimitRule) bool {
	for _, r := range rules {
		if !r.Tallied {
			return false
		}
	}
	return true
}

// of gives the tallies of rules.
func (s *tallies) of(rules []ports.LimitRule) []*tally {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.turned) >= tallyTrust {
		s.before, s.now, s.turned = s.now, map[string]*tally{}, time.Now()
	}
	all := make([]*tally, len(rules))
	for i, r := range rules {
		most, window := r.Bound()
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

// count counts a request here if all limits are far away.
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
		most, window := t.rule.Bound()
		of := ports.LimitDecision{Allowed: true, Name: t.rule.Name, Max: most, Remaining: t.left - t.counted, Reset: window}
		if i == 0 || tighter(of, d) {
			d = of
		}
	}
	return d, true
}

// asks notes that the answer to a request is awaited.
func (s *tallies) asks(c *counting) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range c.tallies {
		t.asking += c.requests
	}
}

// telling are requests of a tally on their way to Redis.
type telling struct {
	*tally
	requests int
	cmd      *redis.Cmd
}

// take gives the requests to tell Redis of.
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

// learn takes over the answer to a request: what Redis has been told, and what is left.
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
		most, _ := t.rule.Bound()
		t.left, t.at = int(c.reply.numbers[perRule*i]), time.Now()
		t.room = (t.left - most/2) / tallyShare
	}
}

// tellAll tells Redis of all requests of which it does not know, key by key.
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
