package redis

import "time"

// cachedBeside is the bytes of Redis memory that a cached response takes besides its body, rounded up.
const cachedBeside = 350

const shareSlots = 20

// share bounds the bytes of responses that a process caches within cachedFor, and so the Redis memory that its
// responses take at any time.
type share struct {
	most  int
	taken int
	slots [shareSlots + 1]int
	slot  int64
}

// take reserves n bytes of the process's share of Redis memory. It reports whether that many were left; if not, it
// reserves none.
func (s *share) take(n int, now time.Time) bool {
	s.advance(now)
	if s.taken+n > s.most {
		return false
	}
	s.slots[s.slot%int64(len(s.slots))] += n
	s.taken += n
	return true
}

// close reserves all bytes that are left of the process's share, so that for a while no more responses are cached.
func (s *share) close(now time.Time) {
	s.advance(now)
	if left := s.most - s.taken; left > 0 {
		s.take(left, now)
	}
}

// advance moves to the present span of time and frees the bytes of spans whose cached responses have expired.
func (s *share) advance(now time.Time) {
	present := now.UnixNano() / int64(cachedFor/shareSlots)
	for n := 0; s.slot < present && n < len(s.slots); n++ {
		s.slot++
		s.taken -= s.slots[s.slot%int64(len(s.slots))]
		s.slots[s.slot%int64(len(s.slots))] = 0
	}
	s.slot = max(s.slot, present)
}
