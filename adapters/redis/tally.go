package redis

import (
	"sync"
	"time"

	ports "partnerdeposits/ports/platform"
)

const (
	// tallyLinger is how long Redis does not know of a request that was counted here.
	tallyLinger = 200 * time.Millisecond
	// tallyTrust is how long an answer of Redis holds. Older than that, the other processes may have used up the limit.
	tallyTrust = 10 * time.Second
	// tallyShare is the part of what is left above half of a limit that a process may count without telling.
	tallyShare = 8
)

// tallies count requests without a round trip while a limit is far away: with more than half of it left. Their count is
// told to Redis with the next round trip under the same rules, tallyLinger later at the latest. A process alone allows
// exactly what the limit allows. Several processes may allow more, but only of a limit whose second half is used
// within tallyLinger (docs/decisions/0047-requests-counted-later.md).
type tallies struct {
	tell func(t *tally) // tells Redis of a tally

	mu          sync.Mutex
	now, before map[string]*tally // by ruleKey
	turned      time.Time         // when now became before
	untold      []*tally          // with requests to tell; not empty: tellAll will run
}

// tally is what a process knows about a group of rules.
type tally struct {
	rules   []ports.LimitRule
	answer  ports.LimitDecision // the last of Redis, about the rule with the fewest requests left
	at      time.Time           // of the answer's question; zero: none, or Redis is away
	room    int                 // how many requests may be counted before Redis knows
	counted int                 // requests since the answer
	telling int                 // of them, those on their way to Redis
}

// tallied reports whether the requests of a group of rules may be counted later.
func tallied(rules []ports.LimitRule) bool {
	for _, r := range rules {
		if !r.Tallied {
			return false
		}
	}
	return true
}

// of gives the tally of a group of rules.
func (s *tallies) of(rules []ports.LimitRule) *tally {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.turned) >= tallyTrust {
		s.before, s.now, s.turned = s.now, map[string]*tally{}, time.Now()
	}
	key := ruleKey(rules)
	t := s.now[key]
	if t == nil {
		if t = s.before[key]; t == nil {
			t = &tally{rules: rules}
		}
		s.now[key] = t
	}
	return t
}

// count counts a request here, if the limit is far away.
func (s *tallies) count(t *tally) (d ports.LimitDecision, counted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.counted >= t.room || time.Since(t.at) >= tallyTrust {
		return d, false
	}
	if t.counted == t.telling {
		if s.untold = append(s.untold, t); len(s.untold) == 1 {
			time.AfterFunc(tallyLinger, s.tellAll)
		}
	}
	t.counted++
	d = t.answer
	d.Remaining -= t.counted
	return d, true
}

// take gives the requests to tell Redis of.
func (s *tallies) take(t *tally) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := t.counted - t.telling
	t.telling = t.counted
	return n
}

// learn takes over the reply of Redis, which has been told of so many requests; nil: there was none.
func (s *tallies) learn(t *tally, asked time.Time, told int, reply *limiterReply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.counted, t.telling = t.counted-told, t.telling-told
	if reply == nil {
		t.at, t.room = time.Time{}, 0
		return
	}
	t.answer, t.at = reply.decide(t.rules, max(reply.allowed-1, 0)), asked
	for i, r := range t.rules {
		most, _ := r.Bound()
		room := (int(reply.numbers[perRule*i]) - most/2) / tallyShare
		if i == 0 || room < t.room {
			t.room = room
		}
	}
}

// tellAll tells Redis of all requests of which it does not know.
func (s *tallies) tellAll() {
	s.mu.Lock()
	untold := s.untold
	s.untold = nil
	s.mu.Unlock()
	for _, t := range untold {
		go s.tell(t)
	}
}
