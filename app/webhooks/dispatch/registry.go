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
	crowding chan struct{} // receives when a window may be filling up

	mu      sync.Mutex
	entries map[id.ID]*entry
	held    map[id.ID]*holding // by partner; under the zero id: of partners that are not known yet
	claimed int
	moves   uint64   // claims and finishes so far; orders them against the database's counts
	posting int      // slots in use
	slow    int      // slots in use by the slow lane
	blocked []*entry // have a waiter and a slot of their own, but found no slot of the process
	closed  bool
}

// holding is a partner's part of the process.
type holding struct {
	claimed int // over all dispatchers, as far as known
	posting int // slots in use, by POSTs to deleted subscriptions too
}

// entry is the registry's knowledge of a subscription.
type entry struct {
	partner  id.ID // zero: not known yet
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
	granted chan bool // true: the claim has a slot; false: the claim has been released
}

func newRegistry(config Config, now func() time.Time) *registry {
	return &registry{config: config, now: now, crowding: make(chan struct{}, 1), entries: map[id.ID]*entry{},
		held: map[id.ID]*holding{}}
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

// of gives the holding of the partner of a subscription.
func (r *registry) of(e *entry) *holding {
	h := r.held[e.partner]
	if h == nil {
		h = &holding{}
		r.held[e.partner] = h
	}
	return h
}

// learn notes the partner of a subscription, which never changes.
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

// observe takes over the health that the database has of subscriptions.
func (r *registry) observe(subscriptions []webhookports.Subscription) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range subscriptions {
		e := r.entry(s.ID)
		r.learn(e, s.PartnerID)
		r.setHealth(e, s.Health)
	}
}

// admit counts a claim if the window of its subscription has room, and the whole window has some for its partner.
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
		if e == nil { // forgotten since the scan that found the subscription; the scan's health is the newest
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

// begin notes that a claim is in flight in this process. The result is false when the claim is in flight already: a
// queue that was restored from an older state delivers jobs twice.
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
	lane, _ := r.laneOf(sub)
	return lane
}

// laneOf also gives the partner; zero: not known.
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

// hold notes whether an endpoint holds its deliveries back. An endpoint that the registry first meets in bad health may
// have done so for any time.
func (r *registry) hold(e *entry) {
	clean := e.health.Clean()
	if !e.known && !clean {
		e.held = held{now: true}
	}
	e.known = true
	e.held.note(!clean || e.posting >= e.health.Slots(r.config.EndpointConcurrency), r.now)
}

// startDelay is the time since a delivery was due, without the time in which its endpoint held it back. Negative: the
// circuit held the delivery back, so its start tells nothing. The row of the subscription knows of that time, whichever
// dispatcher saw it. Until such deliveries have left, the later ones wait behind them.
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

// count changes the number of claims that are known of a subscription.
func (r *registry) count(e *entry, n int) {
	e.claimed += n
	r.of(e).claimed += n
	r.claimed += n
}

// fillingShare: from a quarter of a limit on, the claims are counted in the database more often.
const fillingShare = 4

// fills reports whether the claims of a subscription, or of the whole dispatcher, approach their limit. The limit of a
// subscription in bad health is so low that a single claim approaches it.
func (r *registry) fills(e *entry) bool {
	return fillingShare*e.claimed >= r.window() || fillingShare*r.claimed >= r.config.Window || !e.health.Clean()
}
