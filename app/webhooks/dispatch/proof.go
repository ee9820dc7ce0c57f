package dispatch

import (
	"time"
)

// proof decides when a queue that was away is used again. Each return costs the jobs of a premature attempt settleSpan,
// so a queue that was used for a short time only must prove itself for longer.
type proof struct {
	needed, passed int       // successful probes in a row
	returned       time.Time // when the queue was used again
}

const (
	leastProof = 3   // probes: with probeEvery, less than a second
	maxProof   = 120 // probes: half a minute
	// relapseSpan after its return, a queue counts as reliable.
	relapseSpan = 30 * time.Second
)

// enough takes the result of a probe.
func (p *proof) enough(err error, now time.Time) bool {
	if p.passed >= p.needed { // the first probe since the queue was used
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
