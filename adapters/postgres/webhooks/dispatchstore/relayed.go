package dispatchstore

import (
	"sync"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

// relayedMemory holds the deliveries that Relay claims, as Load would read them after its commit. A worker of this
// process that gets such a claim within webhook.Freshness needs no query. The memory is a hint like any earlier read:
// Relay holds a lock on each subscription that it reads until its commit, so a change of the subscription commits after
// the read, and the change is answered webhook.Freshness later.
type relayedMemory struct {
	mu          sync.Mutex
	now, before map[claimKey]relayedDelivery // by the time of the relay
	turned      time.Time                    // when now became before
	open        map[claimKey]*filing         // of the relays that are committing
}

// claimKey identifies a claim. The due time of a claim is less exact after its way through the queue.
type claimKey struct {
	deliveryID, subscriptionID id.ID
	seq                        int32
}

func keyOf(c webhookports.Claim) claimKey { return claimKey{c.DeliveryID, c.SubscriptionID, c.Seq} }

// relayedDelivery is a delivery with the secret still sealed.
type relayedDelivery struct {
	webhookports.Delivery
	sealed []byte
}

// target is the part of a subscription that a delivery needs.
type target struct {
	url      string
	standard bool
	sealed   []byte
	skew     time.Duration
}

// filing is the commit of the claims of a relay.
type filing struct {
	claims []webhookports.Claim
	ended  chan struct{}
	filed  map[claimKey]struct{} // the claims that were committed; set before ended is closed
}

// end lets those go on who wait for the commit.
func (m *relayedMemory) end(f *filing, filed []webhookports.Claim, committed bool) {
	if committed {
		for _, c := range filed {
			f.filed[keyOf(c)] = struct{}{}
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range f.claims {
		if m.open[keyOf(c)] == f {
			delete(m.open, keyOf(c))
		}
	}
	close(f.ended)
}

// await gives webhookports.Delivery.Filed of a claim.
func (f *filing) await(k claimKey) func() bool {
	return func() bool {
		<-f.ended
		_, filed := f.filed[k]
		return filed
	}
}

// keep remembers the claimed deliveries of a relay that read its subscriptions after readAt, and is about to commit.
func (m *relayedMemory) keep(claims []webhookports.Claim, planned []webhookports.Delivery,
	subscriptions []webhookports.Subscription, targets map[id.ID]target, readAt time.Time,
	lease time.Duration) *filing {
	f := &filing{claims: claims, ended: make(chan struct{}), filed: make(map[claimKey]struct{}, len(claims))}
	if len(claims) == 0 {
		return f
	}
	byID := make(map[id.ID]*webhookports.Delivery, len(planned))
	for i := range planned {
		byID[planned[i].DeliveryID] = &planned[i]
	}
	of := make(map[id.ID]webhookports.Subscription, len(subscriptions))
	for _, s := range subscriptions {
		of[s.ID] = s
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn(readAt)
	if m.open == nil {
		m.open = map[claimKey]*filing{}
	}
	for _, c := range claims {
		m.open[keyOf(c)] = f
		d, to := *byID[c.DeliveryID], targets[c.SubscriptionID]
		sub := of[c.SubscriptionID]
		h := sub.Health
		d.Claim, d.Found, d.Current, d.Enabled, d.Held = c, true, true, true, sub.Held
		d.Healthy = h.Failures == 0 && !h.InSlowLane() && !h.Trouble
		d.URL, d.Standard, d.ReadAt, d.Skew, d.LeaseLeft = to.url, to.standard, readAt, to.skew, lease
		d.Filed = f.await(keyOf(c))
		m.now[keyOf(c)] = relayedDelivery{d, to.sealed}
	}
	return f
}

// turn forgets what is too old.
func (m *relayedMemory) turn(now time.Time) {
	if m.now != nil && now.Sub(m.turned) < webhook.Freshness {
		return
	}
	m.before, m.now, m.turned = m.now, map[claimKey]relayedDelivery{}, now
}

// take gives a delivery that is still fresh, and forgets the delivery: a further load asks the database.
func (m *relayedMemory) take(c webhookports.Claim) (d relayedDelivery, found bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, kept := range []map[claimKey]relayedDelivery{m.now, m.before} {
		if d, found = kept[keyOf(c)]; found {
			delete(kept, keyOf(c))
			age := time.Since(d.ReadAt)
			d.LeaseLeft -= age
			return d, age < webhook.Freshness
		}
	}
	return d, false
}

// await returns when no relay of this process is committing one of the claims.
func (m *relayedMemory) await(claims []webhookports.Claim) {
	for _, c := range claims {
		m.mu.Lock()
		f := m.open[keyOf(c)]
		m.mu.Unlock()
		if f != nil {
			<-f.ended
		}
	}
}

// forget drops claims that became stale.
func (m *relayedMemory) forget(claims []webhookports.Claim) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range claims {
		delete(m.now, keyOf(c))
		delete(m.before, keyOf(c))
	}
}

func (m *relayedMemory) forgetAll() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now, m.before = nil, nil
}
