package redis

import (
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	ports "partnerdeposits/ports/platform"
)

const (
	// tallyLinger bounds the time between the count of a request in this process and its count in Redis.
	tallyLinger = 200 * time.Millisecond
	// tallyTrust bounds the age of the Redis answer by which a process counts: other processes use the same limit.
	tallyTrust = 3 * time.Second
	// tallyShare divides the requests that are left above half of a limit: a process counts one part of them at most
	// before it tells Redis.
	tallyShare = 8
)

// tallies count the requests of this process under limits of which more than half is left. Such a request waits for no
// round trip: Redis counts it with the next command for its key, tallyLinger later at the latest. A process alone
// allows exactly what the limits allow. Several processes may allow more of a limit whose second half the others have
// used since the last answer of Redis (docs/decisions/0006-request.md).
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

// count counts a request in this process if every rule has room. counted is false if Redis must count it.
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

// asks reserves room for a request whose count in Redis is under way. learn ends the reservation.
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

// take marks the requests that Redis has not counted as on their way to Redis, and returns them.
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

// learn ends the way of a request to Redis, and takes over from the reply how many requests each limit has left.
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

// tellAll has Redis count the requests that only this process has counted, with a round trip for each key.
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
