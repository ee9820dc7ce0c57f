package dispatchstore

import (
	"bytes"
	"sync"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

// A backlog is taken from the old end of its index, and until a vacuum has been there every look from that end wades
// through all that was taken before: at a million, longer than the taking. So a look begins where the last one found
// something, and from the very start only every fullEvery, for what was left behind, written late, or given back.
const fullEvery = 2 * time.Second

// floors remembers where to begin, for each backlog.
type floors[K comparable, V any] struct {
	mu sync.Mutex
	of map[K]floor[V]
}

type floor[V any] struct {
	from V
	full time.Time // the last look from the start
}

// begin tells where to begin now; the zero value: at the start.
func (f *floors[K, V]) begin(k K) (from V) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	e, known := f.of[k]
	if known && now.Sub(e.full) < fullEvery {
		return e.from
	}
	if f.of == nil {
		f.of = map[K]floor[V]{}
	}
	f.of[k] = floor[V]{full: now}
	return from
}

// found notes the lowest of what a look took; nothing was taken: there is no backlog to remember.
func (f *floors[K, V]) found(k K, lowest V, taken bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !taken {
		delete(f.of, k)
		return
	}
	e := f.of[k]
	e.from = lowest
	f.of[k] = e
}

// freshSpan is how far back every look at the outbox goes at least: a row is older only if nobody relayed it meanwhile, if
// its transaction took that long, or if the clock of its writer is slow.
const freshSpan = 5 * time.Second

// fresh is where a look begins that need not go further back than freshSpan.
var fresh = id.ID(bytes.Repeat([]byte{0xff}, len(id.ID{})))

// outboxLooks remembers where to begin with the outbox. While a relay keeps up, with what is fresh; from the very start
// every fullEvery, and as soon as a full group tells of a backlog; then where the last group was found.
type outboxLooks struct {
	mu   sync.Mutex
	from id.ID
	full time.Time // the last look from the start
}

// begin gives the lowest id that this look is about; the zero value: all of them.
func (o *outboxLooks) begin() (from id.ID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now := time.Now(); now.Sub(o.full) >= fullEvery {
		o.full = now
		return from
	}
	return o.from
}

// took notes what a look from there took of at most limit events.
func (o *outboxLooks) took(from id.ID, events []ports.Event, limit int) {
	next := fresh
	if len(events) == limit {
		next = lowestID(events)
		if from == fresh { // whether there is more before these it does not know
			next = id.ID{}
		}
	}
	o.next(next)
}

// saw notes whether there is anything from there on; where there is, it is taken from there.
func (o *outboxLooks) saw(from id.ID, any bool) {
	if !any {
		from = fresh
	}
	o.next(from)
}

// failed has the next look begin at the start: what the last one took is back.
func (o *outboxLooks) failed() { o.next(id.ID{}) }

func (o *outboxLooks) next(from id.ID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.from = from
}

func lowestID(events []ports.Event) (lowest id.ID) {
	for i, e := range events {
		if i == 0 || bytes.Compare(e.ID[:], lowest[:]) < 0 {
			lowest = e.ID
		}
	}
	return lowest
}
