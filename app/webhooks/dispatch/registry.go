package dispatch

import (
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
//	the last quarter  is for events of partners with few POSTs in flight, so any number of endpoints that begin to hang
//	                  do not delay the other partners; what a partner asked for does not use this part
//	the rest          is for all, and free slots go to the waiting subscriptions in turn: first to those of partners with
//	                  less than a quarter of the slots
//
// The window is shared in the same way.
type registry struct {
	config   Config
	now      func() time.Time
	crowding chan struct{} // A channel that receives when the claims of a window may be approaching its limit.

	mu      sync.Mutex
	entries map[id.ID]*entry
	// The holdings of partners by the partner's id; the zero id has that of all partners that are not known yet.
	held    map[id.ID]*holding
	claimed int
	moves   uint64 // The number of claims and finishes so far, which orders them against the database's counts.
	posting int    // The number of this process's slots for POSTs that are in use.
	slow    int    // The number of slots in use by the slow lane.
	// The entries that have a waiter and a free slot of their own, but found no free slot of the process.
	blocked []*entry
	closed  bool
}

// holding is a partner's share of the process's claims and slots.
type holding struct {
	claimed int // The number of the partner's claims over all dispatchers, as far as this process knows.
	posting int // The number of slots in use by the partner, also by POSTs to deleted subscriptions.
}

// entry is what the registry knows about a subscription.
type entry struct {
	partner id.ID // The id of the subscription's partner; zero: not known yet.
	health  webhook.Health
	// The number of the subscription's claims over all dispatchers, as far as this process knows.
	claimed int
	// The Seq of each claim of this process, by delivery, until the claim is recorded or given up.
	inFlight map[id.ID]int32
	moved    uint64 // The value of registry.moves at the last claim or finish of the subscription.
	posting  int    // The number of the subscription's slots in use.
	slow     bool   // true: the slots in use count under the slow lane; false: under the fast lane.
	waiting  []*waiter
	blocked  bool      // true: the entry is in registry.blocked; false: it is not.
	known    bool      // true: the entry's field held has been set; false: not yet.
	touched  time.Time // The time at which the entry of the subscription was last used.
	held     held
	drained  time.Time // When a delivery last began that became due while the circuit held it back.
}

// waiter is a claim that waits for a slot.
type waiter struct {
	claim webhookports.Claim
	// A channel that receives true when the claim has a slot, and false when the claim has been released.
	granted chan bool
}

func newRegistry(config Config, now func() time.Time) *registry {
	return &registry{config: config, now: now, crowding: make(chan struct{}, 1), entries: map[id.ID]*entry{},
		held: map[id.ID]*holding{}}
}

// window returns how many deliveries of a healthy subscription may be claimed: enough to keep the slots busy
// while jobs pass through the queue.
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

// of returns the holding of the partner of a subscription.
func (r *registry) of(e *entry) *holding {
	h := r.held[e.partner]
	if h == nil {
		h = &holding{}
		r.held[e.partner] = h
	}
	return h
}

// learn stores the partner of a subscription, which never changes.
func (r *registry) learn(e *entry, partner id.ID) {
	if e.partner == partner || partner.IsZero() {
		return
	}
	from := r.of(e)
	e.partner = partner
	to := r.of(e)
	from.claimed, to.claimed = from.claimed-e.claimed, to.claimed+e.claimed
	from.posting, to.posting = from.posting-e.posting, to.posting+e.posting
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

// observe stores the health of subscriptions that was read from the database.
func (r *registry) observe(subscriptions []webhookports.Subscription) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range subscriptions {
		e := r.entry(s.ID)
		r.learn(e, s.PartnerID)
		r.setHealth(e, s.Health)
	}
}

// admit counts a claim if the window of its subscription has room, and the window of all subscriptions has room
// for its partner. It reports whether it did.
func (r *registry) admit(sub id.ID, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entry(sub)
	if e.claimed >= r.room(e, now) || more(r.config.Window, r.config.Window-r.claimed, r.of(e).claimed) <= 0 {
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
	left, planned := r.config.Window-r.claimed, map[id.ID]int{}
	var rooms []webhookports.Room
	for _, s := range subscriptions {
		e := r.entries[s.ID]
		// the entry was deleted since the scan that found the subscription; the health of the scan is the newest
		if e == nil {
			e = r.entry(s.ID)
			r.learn(e, s.PartnerID)
			r.setHealth(e, s.Health)
		}
		held := r.of(e).claimed + planned[e.partner]
		if room := min(r.room(e, now)-e.claimed, more(r.config.Window, left, held)); room > 0 {
			rooms = append(rooms, webhookports.Room{SubscriptionID: s.ID, Room: room})
			left -= room
			planned[e.partner] += room
		}
	}
	return rooms
}

// claim counts claims that admit has not counted.
func (r *registry) claim(claims []webhookports.Claim) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range claims {
		e := r.entry(c.SubscriptionID)
		r.learn(e, c.PartnerID)
		r.move(e, 1)
	}
}

// begin records that a claim is in flight in this process. The result is true if the claim was not in flight, and
// false if it was: a queue that was restored from an older state delivers jobs twice.
func (r *registry) begin(c webhookports.Claim) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entry(c.SubscriptionID)
	r.learn(e, c.PartnerID)
	if seq, known := e.inFlight[c.DeliveryID]; known && seq == c.Seq {
		return false
	}
	e.inFlight[c.DeliveryID] = c.Seq
	return true
}

// finish records that a claim is no longer in flight.
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

// inFlight returns the deliveries whose claims are in flight in this process.
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
	lane, _ := r.laneOf(sub)
	return lane
}

// laneOf returns the lane of a subscription's jobs, and the subscription's partner; zero: the partner is not
// known.
func (r *registry) laneOf(sub id.ID) (webhookports.Lane, id.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e := r.entries[sub]; {
	case e == nil:
		return webhookports.FastLane, id.ID{}
	case e.slow:
		return webhookports.SlowLane, e.partner
	default:
		return webhookports.FastLane, e.partner
	}
}

// hold records whether an endpoint holds its deliveries back. An endpoint whose bad health is new to the registry
// may have held them back for any time.
func (r *registry) hold(e *entry) {
	clean := e.health.Clean()
	if !e.known && !clean {
		e.held = held{now: true}
	}
	e.known = true
	e.held.note(!clean || e.posting >= e.health.Slots(r.config.EndpointConcurrency), r.now)
}

// startDelay returns the time since a delivery was due, without the time in which its endpoint held it back.
// Negative: the circuit held the delivery back, so the time of its start is no measure of the dispatcher. The row
// of the subscription has the time of the circuit, whichever dispatcher opened it. Until such deliveries have
// been sent, the later ones wait behind them.
func (r *registry) startDelay(d *webhookports.Delivery, due, now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, delay := r.entries[d.SubscriptionID], now.Sub(due)
	if d.Held.Includes(due) {
		if e != nil {
			e.drained = now
		}
		return -1
	}
	own := time.Duration(0)
	if d.Held.Over() && due.Before(d.Held.From) {
		own = d.Held.Till.Sub(d.Held.From)
	}
	if e != nil {
		own = max(own, e.held.within(due, now))
		if e.drained.After(due) {
			own = max(own, e.drained.Sub(due))
		}
	}
	return max(delay-own, 0)
}

func (r *registry) move(e *entry, n int) {
	r.count(e, n)
	r.moves++
	e.moved = r.moves
	if n > 0 && r.fills(e) {
		signal(r.crowding)
	}
}

// count adds n to the number of a subscription's claims; n is below 0 for claims that ended.
func (r *registry) count(e *entry, n int) {
	e.claimed += n
	r.of(e).claimed += n
	r.claimed += n
}

// fillingShare is the divisor of a limit above which the claims are counted in the database more often: from a
// quarter of the limit on.
const fillingShare = 4

// fills reports whether the claims of a subscription, or of the whole dispatcher, approach their limit. The limit
// of a subscription in bad health is so low that a single claim approaches it.
func (r *registry) fills(e *entry) bool {
	return fillingShare*e.claimed >= r.window() || fillingShare*r.claimed >= r.config.Window || !e.health.Clean()
}
