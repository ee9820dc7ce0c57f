package dispatchstore

import (
	"sync"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

// relayedMemory keeps deliveries just made from new events, so that workers can send them without a query, for
// at most webhook.MaxSubscriptionCacheAge: changes of a subscription take effect that long after their commit.
type relayedMemory struct {
	mu sync.Mutex
	// Deliveries that this process made in the last seconds, in two generations.
	now, before map[claimKey]relayedDelivery
	turned      time.Time // When the newer deliveries in memory last became the older ones.
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

// keep stores new deliveries that are claimed already.
func (m *relayedMemory) keep(claims []webhookports.Claim, planned []webhookports.Delivery, from batch,
	lease time.Duration) {
	byID := make(map[id.ID]*webhookports.Delivery, len(planned))
	for i := range planned {
		byID[planned[i].DeliveryID] = &planned[i]
	}
	of := make(map[id.ID]webhookports.Subscription, len(from.subscriptions))
	for _, s := range from.subscriptions {
		of[s.ID] = s
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn(from.readAt)
	for _, c := range claims {
		d, to := *byID[c.DeliveryID], from.targets[c.SubscriptionID]
		h := of[c.SubscriptionID].Health
		d.Claim, d.Found, d.Current, d.Enabled = c, true, true, true
		d.Healthy = h.Failures == 0 && !h.InSlowLane() && !h.Trouble
		d.URL, d.Standard, d.ReadAt, d.Skew, d.LeaseLeft = to.url, to.standard, from.readAt, to.skew, lease
		m.now[keyOf(c)] = relayedDelivery{d, to.sealed}
	}
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
