package dispatch

import (
	"time"
)

// proof decides when a queue that was unreachable is used again. If the queue fails again, its jobs are delayed
// by settleSpan, so a queue that was used for a short time only must pass more probes.
type proof struct {
	// How many successful probes of the queue in a row are needed to use it again, and how many there were.
	needed, passed int
	returned       time.Time // The time at which the queue was used again.
}

const (
	leastProof = 3   // The least number of successful probes: with probeEvery, they take less than a second.
	maxProof   = 120 // The largest number of successful probes: they take half a minute.
	// relapseSpan is how long a queue must have worked since its return to count as reliable.
	relapseSpan = 30 * time.Second
)

// enough records the result of a probe of the queue, and reports whether there were enough successful ones to use
// it again.
func (p *proof) enough(err error, now time.Time) bool {
	if p.passed >= p.needed { // this is the first probe since the queue was used
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
