package redis

import "time"

// cachedBeside is the memory of Redis that a cached response takes beside its body, in bytes: name, expiry, encryption
// and the server's own book-keeping, rounded up.
const cachedBeside = 350

// shareSlots divides cachedFor: a response counts until its slot is cachedFor old.
const shareSlots = 20

// share bounds the bytes that a process caches within cachedFor, and so the memory that its responses take at any time.
type share struct {
	most  int // bytes
	taken int // bytes, in all slots
	slots [shareSlots + 1]int
	slot  int64 // number of the present slot, since 1970
}

// take takes n bytes, if that many are left.
func (s *share) take(n int, now time.Time) bool {
	s.advance(now)
	if s.taken+n > s.most {
		return false
	}
	s.slots[s.slot%int64(len(s.slots))] += n
	s.taken += n
	return true
}

// close takes all bytes that are left.
func (s *share) close(now time.Time) {
	s.advance(now)
	if left := s.most - s.taken; left > 0 {
		s.take(left, now)
	}
}

// advance gives back the bytes of slots whose responses have expired.
func (s *share) advance(now time.Time) {
	present := now.UnixNano() / int64(cachedFor/shareSlots)
	for n := 0; s.slot < present && n < len(s.slots); n++ {
		s.slot++
		s.taken -= s.slots[s.slot%int64(len(s.slots))]
		s.slots[s.slot%int64(len(s.slots))] = 0
	}
	s.slot = max(s.slot, present)
}
