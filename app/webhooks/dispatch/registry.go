package dispatch

import (
	"slices"
	"sync"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

// registry counts the claims and the POSTs of this process, by subscription, and decides which deliveries may be
// claimed and when a claim may be sent. Correctness does not depend on the registry: the database knows which claims
// are current.
//
// A POST needs a slot of its subscription and a slot of the process. The slots of the process are shared fairly:
//
//	at most half      is for the slow lane, so endpoints that hang leave the other half to the fast lane
//	the last quarter  is for subscriptions of the fast lane with few POSTs in flight, so a busy subscription, or several
//	                  that begin to hang at the same time, do not delay the others
//	the rest          is for all, and free slots go to the waiting subscriptions in turn
type registry struct {
	config   Config
	now      func() time.Time
	crowding chan struct{} // receives when a window may be filling up

	mu      sync.Mutex
	entries map[id.ID]*entry
	claimed int
	moves   uint64   // claims and finishes so far; orders them against the database's counts
	posting int      // slots in use
	slow    int      // slots in use by the slow lane
	blocked []*entry // have a waiter and a slot of their own, but found no slot of the process
	closed  bool
}

// entry is the registry's knowledge of a subscription.
type entry struct {
	health   webhook.Health
	claimed  int             // over all dispatchers, as far as known
	inFlight map[id.ID]int32 // Seq of this process's claims, by delivery, until the claim is recorded or given up
	moved    uint64          // registry.moves at the last claim or finish
	posting  int             // slots in use
	slow     bool            // the lane that the slots in use are counted under
	waiting  []*waiter
	blocked  bool      // is in registry.blocked
	known    bool      // held is kept since the entry was made
	touched  time.Time // by the last call about the subscription
	held     held
	drained  time.Time // when a delivery last began that became due while the circuit held it back
}

// waiter is a claim that waits for a slot.
type waiter struct {
	claim   webhookports.Claim
	urgent  bool
	granted chan bool // true: the claim has a slot; false: the claim has been released
}

func newRegistry(config Config, now func() time.Time) *registry {
	return &registry{config: config, now: now, crowding: make(chan struct{}, 1), entries: map[id.ID]*entry{}}
}

// window is how many deliveries of a healthy subscription may be claimed: enough to keep the slots busy while jobs pass
// through the queue.
func (r *registry) window() int {
	return 8 * min(r.config.EndpointConcurrency, r.config.Concurrency)
}

func (r *registry) entry(sub id.ID) *entry {
	e := r.entries[sub]
	if e == nil {
		e = &entry{inFlight: map[id.ID]int32{}}
		r.entries[sub] = e
	}
	e.touched = r.now()
	return e
}

func (r *registry) setHealth(e *entry, h webhook.Health) {
	e.health = h
	if slow := h.InSlowLane(); slow != e.slow {
		if e.slow = slow; slow {
			r.slow += e.posting
		} else {
			r.slow -= e.posting
		}
	}
	r.hold(e)
}

// observe takes over the health that the database has of subscriptions.
func (r *registry) observe(subscriptions []webhookports.Subscription) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range subscriptions {
		r.setHealth(r.entry(s.ID), s.Health)
	}
}

// adjust takes over health that was just recorded, and grants the slots that this frees. The result is the waiters of
// subscriptions whose circuit opened: their claims are older than that, and only a probe may be sent now.
func (r *registry) adjust(health map[id.ID]webhook.Health) (surplus []*waiter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for sub, h := range health {
		e := r.entry(sub)
		r.setHealth(e, h)
		if h.CircuitOpen() {
			surplus = append(surplus, e.waiting...)
			e.waiting = nil
		}
		r.grant(e)
	}
	r.grantBlocked()
	return surplus
}

// close returns all waiters. No claim waits any more.
func (r *registry) close() (waiters []*waiter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, e := range r.entries {
		waiters = append(waiters, e.waiting...)
		e.waiting = nil
	}
	return waiters
}

// admit counts a claim if the window of its subscription has room.
func (r *registry) admit(sub id.ID, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entry(sub)
	if e.claimed >= r.room(e, now) || r.claimed >= r.config.Window {
		return false
	}
	r.move(e, 1)
	return true
}

func (r *registry) room(e *entry, now time.Time) int {
	return e.health.Room(r.config.EndpointConcurrency, r.window(), now)
}

// rooms returns how many deliveries of each subscription may be claimed now.
func (r *registry) rooms(subscriptions []webhookports.Subscription, now time.Time) []webhookports.Room {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := r.config.Window - r.claimed
	var rooms []webhookports.Room
	for _, s := range subscriptions {
		e := r.entries[s.ID]
		if e == nil { // forgotten since the scan that found the subscription; the scan's health is the newest
			e = r.entry(s.ID)
			r.setHealth(e, s.Health)
		}
		if room := min(r.room(e, now)-e.claimed, left); room > 0 {
			rooms = append(rooms, webhookports.Room{SubscriptionID: s.ID, Room: room})
			left -= room
		}
	}
	return rooms
}

// claim counts claims that admit has not counted.
func (r *registry) claim(claims []webhookports.Claim) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range claims {
		r.move(r.entry(c.SubscriptionID), 1)
	}
}

// begin notes that a claim is in flight in this process. The result is false when the claim is in flight already: a
// queue that was restored from an older state delivers jobs twice.
func (r *registry) begin(c webhookports.Claim) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entry(c.SubscriptionID)
	if seq, known := e.inFlight[c.DeliveryID]; known && seq == c.Seq {
		return false
	}
	e.inFlight[c.DeliveryID] = c.Seq
	return true
}

// finish ends a claim.
func (r *registry) finish(c webhookports.Claim) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entry(c.SubscriptionID)
	if e.inFlight[c.DeliveryID] == c.Seq {
		delete(e.inFlight, c.DeliveryID)
	}
	if e.claimed > 0 {
		r.move(e, -1)
	}
}

// inFlight lists the deliveries whose claims are in flight in this process.
func (r *registry) inFlight() []id.ID {
	r.mu.Lock()
	defer r.mu.Unlock()
	ids := []id.ID{}
	for _, e := range r.entries {
		for delivery := range e.inFlight {
			ids = append(ids, delivery)
		}
	}
	return ids
}

// lane returns the lane of a subscription's jobs.
func (r *registry) lane(sub id.ID) webhookports.Lane {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[sub]; e != nil && e.slow {
		return webhookports.SlowLane
	}
	return webhookports.FastLane
}

// slot takes a slot for a claim. The result is nil when the claim has the slot, and otherwise a waiter. An urgent claim
// needs no slot of its subscription, and waits ahead of the others.
func (r *registry) slot(c webhookports.Claim, urgent bool) *waiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entry(c.SubscriptionID)
	if r.closed || r.mayPost(e, urgent) {
		r.post(e, 1)
		return nil
	}
	w := &waiter{claim: c, urgent: urgent, granted: make(chan bool, 1)}
	if urgent {
		e.waiting = slices.Insert(e.waiting, 0, w)
	} else {
		e.waiting = append(e.waiting, w)
	}
	r.block(e)
	return w
}

// free gives a slot back and grants the free slots to waiters.
func (r *registry) free(sub id.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entry(sub)
	r.post(e, -1)
	r.grantBlocked() // before the subscription's own waiters, which come after those that wait already
	r.grant(e)
}

// saturated reports whether a lane has no slot left in this process.
func (r *registry) saturated(lane webhookports.Lane) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := r.config.Concurrency - r.posting
	return left <= 0 || lane == webhookports.SlowLane && (r.slow >= r.config.slowSlots() || left <= r.config.reservedSlots())
}

func (r *registry) post(e *entry, n int) {
	e.posting += n
	r.posting += n
	if e.slow {
		r.slow += n
	}
	r.hold(e)
}

func (r *registry) ownSlot(e *entry, urgent bool) bool {
	return urgent || e.posting < e.health.Slots(r.config.EndpointConcurrency)
}

func (r *registry) mayPost(e *entry, urgent bool) bool {
	if !r.ownSlot(e, urgent) {
		return false
	}
	left := r.config.Concurrency - r.posting
	switch {
	case urgent:
		return left > 0
	case e.slow:
		return left > r.config.reservedSlots() && r.slow < r.config.slowSlots()
	case e.posting >= r.config.fewSlots():
		return left > r.config.reservedSlots()
	default:
		return left > 0
	}
}

// grant gives slots to the waiters of a subscription.
func (r *registry) grant(e *entry) {
	for len(e.waiting) > 0 && r.mayPost(e, e.waiting[0].urgent) {
		r.grantFirst(e)
	}
	r.block(e)
}

func (r *registry) grantFirst(e *entry) {
	w := e.waiting[0]
	e.waiting = e.waiting[1:]
	r.post(e, 1)
	w.granted <- true
}

// block has a subscription wait for a slot of the process, if that is all that its first waiter needs.
func (r *registry) block(e *entry) {
	if !e.blocked && len(e.waiting) > 0 && r.ownSlot(e, e.waiting[0].urgent) {
		e.blocked = true
		r.blocked = append(r.blocked, e)
	}
}

// grantBlocked gives free slots of the process to the waiting subscriptions, in turn.
func (r *registry) grantBlocked() {
	for i := 0; i < len(r.blocked); {
		e := r.blocked[i]
		if len(e.waiting) > 0 && r.ownSlot(e, e.waiting[0].urgent) && !r.mayPost(e, e.waiting[0].urgent) {
			i++
			continue
		}
		r.blocked = slices.Delete(r.blocked, i, i+1)
		e.blocked = false
		if len(e.waiting) > 0 && r.mayPost(e, e.waiting[0].urgent) {
			r.grantFirst(e)
		}
		r.block(e)
	}
}
