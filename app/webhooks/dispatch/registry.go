package dispatch

import (
	"sync"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

// registry counts, by subscription, the deliveries that this process has claimed (reserved for an attempt) and its
// POSTs in flight. It decides which deliveries may be claimed and when a POST may begin. Correctness does not depend
// on the registry: the database stores which claims are current. A slot is the right to have a POST in flight, and
// the window is the number of deliveries that may be claimed.
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
	config  Config
	now     func() time.Time
	mu      sync.Mutex
	entries map[id.ID]*entry
	// The deliveries and POSTs that each partner has at present, by the partner's id; the zero id has those of all
	// partners that are not known yet.
	held    map[id.ID]*holding
	claimed int
	// The number of changes to the counts of claims so far, by which the registry orders them against the
	// database's counts.
	moves   uint64
	posting int
	slow    int
	// The subscriptions that wait to send a delivery and may have another POST in flight, but this process may
	// not.
	blocked []*entry
	closed  bool
}

// holding is a partner's share of the claims of deliveries and of the POSTs in flight of this process.
type holding struct {
	// The number of the partner's deliveries that any dispatcher has claimed for an attempt, as far as this
	// process knows.
	claimed int
	posting int // The number of the partner's POSTs in flight in this process, also to deleted subscriptions.
}

// entry is what this process knows about a subscription: its health, its deliveries in flight and those that
// wait.
type entry struct {
	partner id.ID // The id of the subscription's partner; zero: not known yet.
	health  webhook.Health
	// The number of the subscription's deliveries that any dispatcher has claimed for an attempt, as far as this
	// process knows.
	claimed int
	// The deliveries that this process has claimed for an attempt, with the number of the claim, until the attempt
	// is recorded or given up.
	inFlight map[id.ID]int32
	moved    uint64
	posting  int
	// Whether the POSTs in flight count under the slow lane, for slow and failing endpoints.
	slow    bool
	waiting []*waiter
	// Whether the subscription waits in registry.blocked for a POST of this process to end.
	blocked bool
	touched time.Time
}

// waiter is a claimed delivery that waits until another POST may be in flight.
type waiter struct {
	claim webhookports.Claim
	// Whether all POSTs that the endpoint may have were in flight when the wait began, so the wait is no start delay.
	ownFull bool
	// A channel that receives true when the POST may begin, and false when the delivery has been given up.
	granted chan bool
}

func newRegistry(config Config, now func() time.Time) *registry {
	return &registry{config: config, now: now, entries: map[id.ID]*entry{},
		held: map[id.ID]*holding{}}
}

// window returns how many deliveries of a healthy subscription may be claimed for an attempt: enough to keep
// its POSTs busy while jobs pass through the queue.
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

func (r *registry) of(e *entry) *holding {
	h := r.held[e.partner]
	if h == nil {
		h = &holding{}
		r.held[e.partner] = h
	}
	return h
}

// learn stores to which partner a subscription belongs, which never changes.
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
}

func (r *registry) observe(subscriptions []webhookports.Subscription) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range subscriptions {
		e := r.entry(s.ID)
		r.learn(e, s.PartnerID)
		r.setHealth(e, s.Health)
	}
}

// admit counts a delivery as claimed for an attempt, and reports whether its subscription and its partner may have
// one more.
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
	return e.health.ClaimLimit(r.config.EndpointConcurrency, r.window(), now)
}

// rooms returns how many further deliveries of each subscription may be claimed for an attempt now.
func (r *registry) rooms(subscriptions []webhookports.Subscription, now time.Time) []webhookports.ClaimQuota {
	r.mu.Lock()
	defer r.mu.Unlock()
	left, planned := r.config.Window-r.claimed, map[id.ID]int{}
	var rooms []webhookports.ClaimQuota
	for _, s := range subscriptions {
		e := r.entries[s.ID]
		// The entry was deleted since the query that found the subscription, so the health in the query's result is
		// the newest.
		if e == nil {
			e = r.entry(s.ID)
			r.learn(e, s.PartnerID)
			r.setHealth(e, s.Health)
		}
		held := r.of(e).claimed + planned[e.partner]
		if room := min(r.room(e, now)-e.claimed, more(r.config.Window, left, held)); room > 0 {
			rooms = append(rooms, webhookports.ClaimQuota{SubscriptionID: s.ID, Room: room})
			left -= room
			planned[e.partner] += room
		}
	}
	return rooms
}

func (r *registry) claim(claims []webhookports.Claim) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range claims {
		e := r.entry(c.SubscriptionID)
		r.learn(e, c.PartnerID)
		r.move(e, 1)
	}
}

// begin records that this process is about to attempt a claimed delivery. The result is false if it was doing so
// already: a restored queue delivers jobs twice.
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

// lane returns the lane of a subscription's POSTs: the fast one, or the slow one for slow and failing endpoints.
func (r *registry) lane(sub id.ID) webhookports.Lane {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[sub]; e != nil && e.slow {
		return webhookports.SlowLane
	}
	return webhookports.FastLane
}

// namePartners sets the partner of each claim, as far as it is known.
func (r *registry) namePartners(claims []webhookports.Claim) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range claims {
		if e := r.entries[claims[i].SubscriptionID]; e != nil {
			claims[i].PartnerID = e.partner
		}
	}
}

func (r *registry) move(e *entry, n int) {
	r.count(e, n)
	r.moves++
	e.moved = r.moves
}

func (r *registry) count(e *entry, n int) {
	e.claimed += n
	r.of(e).claimed += n
	r.claimed += n
}
