package dispatchstore

import (
	"sync"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

// relayedMemory keeps deliveries just made from new events, so that workers can send them without a query, for
// at most webhook.Freshness: changes of a subscription take effect that long after their commit.
type relayedMemory struct {
	mu sync.Mutex
	// Deliveries that this process made in the last seconds, in two generations.
	now, before map[claimKey]relayedDelivery
	turned      time.Time // When the newer deliveries in memory last became the older ones.
	// Claims on deliveries whose transaction is still committing; workers wait for its end.
	open map[claimKey]*filing
}

// claimKey identifies a claim on a delivery, without its due time, which becomes less exact on the way through
// the queue.
type claimKey struct {
	deliveryID, subscriptionID id.ID
	seq                        int32
}

func keyOf(c webhookports.Claim) claimKey { return claimKey{c.DeliveryID, c.SubscriptionID, c.Seq} }

// relayedDelivery is a delivery in memory whose signing secret is still encrypted.
type relayedDelivery struct {
	webhookports.Delivery
	sealed []byte
}

// target holds what a delivery needs of its subscription to be sent, such as the URL.
type target struct {
	url      string
	standard bool
	sealed   []byte
	skew     time.Duration
}

// filing is a transaction that commits new deliveries with their claims, and its result.
type filing struct {
	claims []webhookports.Claim
	ended  chan struct{}
	// The committed claims, set before the channel ended is closed.
	filed map[claimKey]struct{}
}

// end stores which claims were committed, and wakes the workers that wait.
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

// await returns webhookports.Delivery.Filed: it waits for the end of the delivery's transaction and reports
// whether it committed.
func (f *filing) await(k claimKey) func() bool {
	return func() bool {
		<-f.ended
		_, filed := f.filed[k]
		return filed
	}
}

// keep stores new deliveries before their commit. readAt is a time before the subscriptions were read.
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
		h := of[c.SubscriptionID].Health
		d.Claim, d.Found, d.Current, d.Enabled = c, true, true, true
		d.Healthy = h.Failures == 0 && !h.InSlowLane() && !h.Trouble
		d.URL, d.Standard, d.ReadAt, d.Skew, d.LeaseLeft = to.url, to.standard, readAt, to.skew, lease
		d.Filed = f.await(keyOf(c))
		m.now[keyOf(c)] = relayedDelivery{d, to.sealed}
	}
	return f
}

// turn drops deliveries from memory that are too old to be sent without a query.
func (m *relayedMemory) turn(now time.Time) {
	if m.now != nil && now.Sub(m.turned) < webhook.MaxSubscriptionCacheAge {
		return
	}
	m.before, m.now, m.turned = m.now, map[claimKey]relayedDelivery{}, now
}

// take returns a delivery from memory if it is young enough, and drops it, so that a further load queries the
// database.
func (m *relayedMemory) take(c webhookports.Claim) (d relayedDelivery, found bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, kept := range []map[claimKey]relayedDelivery{m.now, m.before} {
		if d, found = kept[keyOf(c)]; found {
			delete(kept, keyOf(c))
			age := time.Since(d.ReadAt)
			d.LeaseLeft -= age
			return d, age < webhook.MaxSubscriptionCacheAge
		}
	}
	return d, false
}

// await waits until no transaction of this process is committing one of the claims.
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

// forget drops deliveries from memory whose claims are no longer valid.
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
