package dispatch

import (
	"time"
)

// proof decides when the queue in Redis is used again after it was unreachable: a queue that failed again soon
// after its return must pass more tests.
type proof struct {
	// How many successful tests of the queue in a row are needed to use it again, and how many there were.
	needed, passed int
	returned       time.Time
}

const (
	// The least number of successful tests of the queue: with probeEvery, they take less than a second.
	leastProof = 3
	maxProof   = 120 // The largest number of successful tests of the queue: they take half a minute.
	// relapseSpan is how long a queue must have worked since its return to count as reliable.
	relapseSpan = 30 * time.Second
)

// enough records the result of a test of the queue, and reports whether there were enough successful ones to
// use it again.
func (p *proof) enough(err error, now time.Time) bool {
	if p.passed >= p.needed { // The queue was in use until now, so this is the first test since it failed.
		needed := leastProof
		if now.Sub(p.returned) < relapseSpan {
			needed = min(2*p.needed, maxProof)
		}
		*p = proof{needed: needed, returned: p.returned}
	}
	if p.passed++; err != nil {
		p.passed = 0
	}
	if p.passed == p.needed {
		p.returned = now
	}
	return p.passed == p.needed
}
