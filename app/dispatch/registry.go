package dispatch

import (
	"sync"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

// registry knows the endpoints that have something under way: their health, how much of their window is taken, and who
// holds their slots. It steers; correctness never depends on it.
type registry struct {
	limit  int // slots of an endpoint
	window int // claims of an endpoint in good health
	total  int // claims of all endpoints

	mu        sync.Mutex
	endpoints map[id.ID]*endpoint
	claimed   int
	moves     uint64 // claims and finishes so far; tells whether a count is older than they are
}

type endpoint struct {
	health  webhook.Health
	claimed int             // under way, as far as known
	posting int             // slots taken in this process
	waiting []task          // for a slot
	held    map[id.ID]int32 // deliveries that are in this process's hands, with their seq
	moved   uint64          // value of moves at the last claim or finish
}

func newRegistry(limit, window, total int) *registry {
	return &registry{limit: limit, window: window, total: total, endpoints: map[id.ID]*endpoint{}}
}

func (r *registry) of(sub id.ID) *endpoint {
	e := r.endpoints[sub]
	if e == nil {
		e = &endpoint{held: map[id.ID]int32{}}
		r.endpoints[sub] = e
	}
	return e
}

// observe takes over what the database says of endpoints.
func (r *registry) observe(endpoints []ports.Endpoint) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range endpoints {
		r.of(e.ID).health = e.Health
	}
}

// adjust takes over the health that was just recorded. It hands out the slots that this opened, and takes from those who
// wait for one of an endpoint that is held: it is to be probed, not to be sent what was claimed before it was.
func (r *registry) adjust(health map[id.ID]webhook.Health) (slotted, surplus []task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for sub, h := range health {
		e := r.of(sub)
		e.health = h
		if h.Held() {
			surplus = append(surplus, e.waiting...)
			e.waiting = nil
		}
		slotted = append(slotted, r.handOut(e)...)
	}
	return slotted, surplus
}

// admit takes one place in the endpoint's window, if there is one.
func (r *registry) admit(sub id.ID, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.of(sub)
	if e.claimed >= e.health.Room(r.limit, r.window, now) || r.claimed >= r.total {
		return false
	}
	r.take(e, 1)
	return true
}

// rooms tells how much of each endpoint's backlog may be claimed now.
func (r *registry) rooms(endpoints []ports.Endpoint, now time.Time) []ports.Room {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := r.total - r.claimed
	var rooms []ports.Room
	for _, p := range endpoints {
		e := r.endpoints[p.ID]
		if e == nil { // forgotten since the scan that found it: what that knew of its health still holds
			e = r.of(p.ID)
			e.health = p.Health
		}
		if room := min(e.health.Room(r.limit, r.window, now)-e.claimed, left); room > 0 {
			rooms = append(rooms, ports.Room{SubscriptionID: p.ID, Room: room})
			left -= room
		}
	}
	return rooms
}

// claim notes claims that did not go through admit.
func (r *registry) claim(claims []ports.Claim) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range claims {
		r.take(r.of(c.SubscriptionID), 1)
	}
}

// finish gives a claim's place back.
func (r *registry) finish(c ports.Claim) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.of(c.SubscriptionID)
	if e.held[c.DeliveryID] == c.Seq {
		delete(e.held, c.DeliveryID)
	}
	if e.claimed > 0 {
		r.take(e, -1)
	}
}

// busy lists the deliveries that are in this process's hands, waiting for a slot or under way.
func (r *registry) busy() []id.ID {
	r.mu.Lock()
	defer r.mu.Unlock()
	ids := []id.ID{}
	for _, e := range r.endpoints {
		for delivery := range e.held {
			ids = append(ids, delivery)
		}
	}
	return ids
}

func (r *registry) take(e *endpoint, n int) {
	e.claimed += n
	r.claimed += n
	r.moves++
	e.moved = r.moves
}

// mark names the present moment for correct.
func (r *registry) mark() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.moves
}

// correct replaces the windows by what the database counted at the moment of mark, but for endpoints that moved since,
// which the next count will meet. Endpoints with nothing under way are forgotten.
func (r *registry) correct(counts map[id.ID]int, mark uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for sub, n := range counts {
		if e := r.of(sub); e.moved <= mark || n < e.claimed/2 {
			r.claimed += n - e.claimed
			e.claimed = n
		}
	}
	for sub, e := range r.endpoints {
		if counts[sub] > 0 || e.moved > mark {
			continue
		}
		r.claimed -= e.claimed
		e.claimed = 0
		if len(e.held) == 0 && e.posting == 0 {
			delete(r.endpoints, sub)
		}
	}
}

// lane tells which lane the endpoint's jobs take.
func (r *registry) lane(sub id.ID) ports.Lane {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.endpoints[sub]; e != nil && (e.health.Slow || e.health.Held() || e.health.Ramp > 0) {
		return ports.SlowLane
	}
	return ports.FastLane
}

// hold takes a claim into this process's hands, unless it is there already: a queue that was restored hands out again
// what it had handed out.
func (r *registry) hold(c ports.Claim) (taken bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.of(c.SubscriptionID)
	if seq, there := e.held[c.DeliveryID]; there && seq == c.Seq {
		return false
	}
	e.held[c.DeliveryID] = c.Seq
	return true
}

// slot takes a slot for t, or lets it wait for one; an urgent task takes one in any case.
func (r *registry) slot(t task) (taken bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.of(t.claim.SubscriptionID)
	if e.posting >= e.health.Slots(r.limit) && !t.urgent {
		e.waiting = append(e.waiting, t)
		return false
	}
	e.posting++
	return true
}

// next gives a slot back and hands out what is free to tasks that wait.
func (r *registry) next(sub id.ID) []task {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.of(sub)
	e.posting--
	return r.handOut(e)
}

// handOut takes free slots for tasks that wait. Somebody waits only while a slot is taken, and whoever has it comes by.
func (r *registry) handOut(e *endpoint) (slotted []task) {
	for len(e.waiting) > 0 && e.posting < e.health.Slots(r.limit) {
		slotted = append(slotted, e.waiting[0])
		e.waiting = e.waiting[1:]
		e.posting++
	}
	return slotted
}
