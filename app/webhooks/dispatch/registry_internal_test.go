package dispatch

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

// A scan goes on claiming for the subscriptions of its result. A subscription with an open circuit has no claims, so
// the registry forgets its entry meanwhile.
func TestRegistry_AForgottenSubscription_KeepsItsOpenCircuit(t *testing.T) {
	now := time.Unix(1_790_000_000, 0)
	open := webhookports.Subscription{ID: id.ID{1}, Health: webhook.Health{Failures: 30, FailingSince: now.Add(-time.Hour),
		Slow: true, FailedProbes: 1, OpenUntil: now.Add(time.Second)}}
	clock := now
	r := newRegistry(Config{Concurrency: 256, EndpointConcurrency: 16, Window: 1000}, func() time.Time { return clock })
	r.observe([]webhookports.Subscription{open})
	clock = clock.Add(forgetAfter)
	r.correct(nil, r.mark())
	require.Empty(t, r.entries)
	require.Empty(t, r.rooms([]webhookports.Subscription{open}, now))
	require.Equal(t, []webhookports.ClaimQuota{{SubscriptionID: open.ID, Room: 1}},
		r.rooms([]webhookports.Subscription{open}, open.Health.OpenUntil), "one probe")
}

// The database does not count a claim that is not committed, and after the commit a job is under way to its worker.
func TestRegistry_AClaimThatIsNotCounted_LeavesItsSubscriptionInTheSlowLane(t *testing.T) {
	now := time.Unix(1_790_000_000, 0)
	clock := now
	slow := webhookports.Subscription{ID: id.ID{1}, Health: webhook.Health{Slow: true}}
	r := newRegistry(Config{Concurrency: 8, EndpointConcurrency: 8, Window: 1000}, func() time.Time { return clock })
	r.observe([]webhookports.Subscription{slow})
	require.True(t, r.admit(slow.ID, now))
	clock = clock.Add(forgetAfter - 1)
	r.correct(nil, r.mark())
	require.Equal(t, webhookports.SlowLane, r.lane(slow.ID))
}

// line asks for slots and keeps the waiters. Without a partner, the id of the subscription stands for it.
type line struct {
	r            *registry
	sub, partner id.ID
	n            byte
	waiters      []*waiter
}

// ask asks for n slots and returns how many were free.
func (l *line) ask(n int, test bool) (taken int) {
	c := webhookports.Claim{SubscriptionID: l.sub, PartnerID: l.partner, Requested: test}
	if l.partner.IsZero() {
		c.PartnerID = l.sub
	}
	for range n {
		l.n++
		c.DeliveryID = id.ID{2, l.n}
		l.r.begin(c)
		if w := l.r.slot(c, test); w != nil {
			l.waiters = append(l.waiters, w)
		} else {
			taken++
		}
	}
	return taken
}

// granted counts the waiters that got a slot since the last call.
func (l *line) granted() (n int) {
	var left []*waiter
	for _, w := range l.waiters {
		select {
		case <-w.granted:
			n++
		default:
			left = append(left, w)
		}
	}
	l.waiters = left
	return n
}

func TestRegistry_Slots_FollowTheHealthOfTheSubscription(t *testing.T) {
	const limit = 16
	r := newRegistry(Config{Concurrency: 256, EndpointConcurrency: limit, Window: 1000}, time.Now)
	l := &line{r: r, sub: id.ID{1}}
	become := func(h webhook.Health) (surplus []*waiter) { return r.adjust(map[id.ID]webhook.Health{l.sub: h}) }
	require.Equal(t, limit, l.ask(40, false))

	require.Empty(t, become(webhook.Health{Failures: 5, Slow: true}), "claims go on waiting, for fewer slots")
	for range limit - limit/8 {
		r.free(l.sub)
		require.Zero(t, l.granted(), "more POSTs are in flight than the health allows")
	}
	r.free(l.sub)
	require.Equal(t, 1, l.granted())

	require.Empty(t, become(webhook.Health{Slow: true}))
	require.Equal(t, limit-limit/8, l.granted(), "the endpoint answers again: waiters get slots before a POST ends")

	require.Len(t, become(webhook.Health{Failures: 20, Slow: true, FailedProbes: 1,
		OpenUntil: time.Unix(1_790_000_000, 0)}), 40-limit-1-(limit-limit/8))
	l.waiters = nil
	for range limit {
		r.free(l.sub)
	}
	require.Equal(t, 1, l.ask(3, false), "a probe")

	require.Empty(t, become(webhook.Health{Slow: true, Ramp: 2}))
	require.Equal(t, 1, l.granted())
}

func TestRegistry_Slots_OfTheProcessAreShared(t *testing.T) {
	const all = 64 // 32 for the slow lane, 16 reserved for subscriptions without a POST in flight
	r := newRegistry(Config{Concurrency: all, EndpointConcurrency: all, Window: 1000}, time.Now)
	slow, busy := &line{r: r, sub: id.ID{1}}, &line{r: r, sub: id.ID{2}}
	r.observe([]webhookports.Subscription{{ID: slow.sub, Health: webhook.Health{Slow: true}}})
	require.Equal(t, all/2, slow.ask(all, false), "the slow lane gets half")
	require.False(t, r.saturated())
	require.Equal(t, all/4, busy.ask(all, false), "one busy subscription leaves the reserve")
	for i := range all / 4 {
		other := &line{r: r, sub: id.ID{3, byte(i)}}
		require.Equal(t, 1, other.ask(1, false), "other subscriptions get the reserve")
	}
	require.True(t, r.saturated())
	test := &line{r: r, sub: id.ID{4}}
	require.Zero(t, test.ask(1, true), "a test needs a slot of the process too")

	for i := range all / 4 {
		r.free(id.ID{3, byte(i)})
	}
	require.Zero(t, busy.granted()+slow.granted()+test.granted(), "the reserve is free again, and stays free")
	r.free(busy.sub)
	require.Equal(t, 1, busy.granted()+test.granted())
	r.free(slow.sub)
	require.Equal(t, 1, busy.granted()+slow.granted()+test.granted())
	require.Equal(t, all*3/4, r.posting)
}

// A process with room keeps its jobs; the others are told once it, or an endpoint, has enough to do.
func TestRegistry_KeepsClaims_WhileTheProcessAndTheEndpointsHaveRoom(t *testing.T) {
	now := time.Unix(1_790_000_000, 0)
	r := newRegistry(Config{Concurrency: 64, EndpointConcurrency: 8, Window: 1000}, time.Now)
	quick, slow := id.ID{1}, webhookports.Subscription{ID: id.ID{2}, Health: webhook.Health{Slow: true}}
	claim := func(sub id.ID) []webhookports.Claim { return []webhookports.Claim{{SubscriptionID: sub}} }
	r.observe([]webhookports.Subscription{slow})
	require.False(t, r.keeps(claim(slow.ID)), "an endpoint in the slow lane")

	for range 4 {
		require.True(t, r.admit(quick, now))
		require.True(t, r.keeps(claim(quick)))
	}
	require.True(t, r.admit(quick, now))
	require.False(t, r.keeps(claim(quick)), "more than half of the endpoint's slots")
	require.True(t, r.keeps(claim(id.ID{3})))

	l := line{r: r, sub: id.ID{4}}
	require.Equal(t, 7, l.ask(7, false))
	require.True(t, r.keeps(claim(id.ID{3})))
	require.Equal(t, 1, l.ask(1, false))
	require.False(t, r.keeps(claim(id.ID{3})), "an eighth of the slots")
}

func TestRegistry_FreeSlots_GoToWaitingSubscriptionsInTurn(t *testing.T) {
	r := newRegistry(Config{Concurrency: 2, EndpointConcurrency: 2, Window: 1000}, time.Now)
	first, second, third := &line{r: r, sub: id.ID{1}}, &line{r: r, sub: id.ID{2}}, &line{r: r, sub: id.ID{3}}
	require.Equal(t, 2, first.ask(6, false))
	require.Zero(t, second.ask(6, false))
	require.Zero(t, third.ask(6, false))
	from := first.sub // has both slots
	var order []byte
	for range 6 {
		r.free(from)
		for _, l := range []*line{first, second, third} {
			for range l.granted() {
				order = append(order, l.sub[0])
				from = l.sub
			}
		}
	}
	require.Equal(t, []byte{2, 3, 2, 1, 3, 2}, order, "a subscription that got a slot goes to the end")
	require.Equal(t, 2, r.posting)
}

func TestRegistry_ASubscriptionThatTurnsSlow_CountsAsSlow(t *testing.T) {
	const all = 16
	r := newRegistry(Config{Concurrency: all, EndpointConcurrency: all, Window: 1000}, time.Now)
	l := &line{r: r, sub: id.ID{1}}
	require.Equal(t, all*3/4, l.ask(all, false))
	r.adjust(map[id.ID]webhook.Health{l.sub: {Slow: true}})
	require.Equal(t, all*3/4, r.slow)
	for range all / 4 {
		r.free(l.sub)
		require.Zero(t, l.granted())
	}
	r.free(l.sub)
	require.Equal(t, 1, l.granted(), "half of all slots")
	r.adjust(map[id.ID]webhook.Health{l.sub: {}})
	require.Zero(t, r.slow)
	require.Equal(t, 3, l.granted())
}

func TestRegistry_Closed_NoClaimWaits(t *testing.T) {
	r := newRegistry(Config{Concurrency: 1, EndpointConcurrency: 4, Window: 1000}, time.Now)
	l := &line{r: r, sub: id.ID{1}}
	require.Equal(t, 1, l.ask(5, false))
	require.Len(t, r.close(), 4)
	require.Equal(t, 2, l.ask(2, false), "the worker releases these claims")
}

func TestRegistry_Admits_UpToTheWindowOfTheSubscriptionAndOfAll(t *testing.T) {
	r := newRegistry(Config{Concurrency: 2, EndpointConcurrency: 1, Window: 11}, time.Now) // 8 of a subscription
	admitted := func(sub byte) (n int) {
		r.observe([]webhookports.Subscription{{ID: id.ID{sub}, PartnerID: id.ID{sub}}})
		for r.admit(id.ID{sub}, noon) {
			n++
		}
		return n
	}
	require.Equal(t, []int{8, 1, 1, 1, 0}, []int{admitted(1), admitted(2), admitted(3), admitted(4), admitted(5)})
	r.finish(webhookports.Claim{SubscriptionID: id.ID{1}})
	require.Equal(t, []int{0, 1, 0}, []int{admitted(1), admitted(5), admitted(2)}, "the last quarter is for who has least")
	r.finish(webhookports.Claim{SubscriptionID: id.ID{9}})
	require.Zero(t, admitted(2), "the end of a claim that was not counted makes no room")
}

func TestRegistry_Rooms_ShareTheWindowOfAll(t *testing.T) {
	r := newRegistry(Config{Concurrency: 2, EndpointConcurrency: 1, Window: 11}, time.Now)
	subs := []webhookports.Subscription{{ID: id.ID{1}, PartnerID: id.ID{1}}, {ID: id.ID{2}, PartnerID: id.ID{1}},
		{ID: id.ID{3}, PartnerID: id.ID{2}}, {ID: id.ID{4}, PartnerID: id.ID{2}}}
	r.claim([]webhookports.Claim{{SubscriptionID: id.ID{1}}, {SubscriptionID: id.ID{1}}})
	want := []webhookports.ClaimQuota{{SubscriptionID: id.ID{1}, Room: 6}, {SubscriptionID: id.ID{2}, Room: 1},
		{SubscriptionID: id.ID{3}, Room: 1}}
	require.Equal(t, want, r.rooms(subs, noon))
}

func TestRegistry_AClaim_IsInFlightOnce(t *testing.T) {
	r := newRegistry(Config{Concurrency: 2, EndpointConcurrency: 2, Window: 100}, time.Now)
	first, newer := claimOf(1), claimOf(1)
	newer.Seq = 2
	require.True(t, r.begin(first))
	require.False(t, r.begin(first), "a job that the queue delivers twice")
	require.True(t, r.begin(newer), "a new claim of the same delivery")
	require.Equal(t, []id.ID{first.DeliveryID}, r.inFlight())
	r.finish(first)
	require.Equal(t, []id.ID{first.DeliveryID}, r.inFlight(), "the newer claim is in flight")
	r.finish(newer)
	require.Empty(t, r.inFlight())
}

func TestRegistry_Counts_CorrectWhatDidNotMoveMeanwhile(t *testing.T) {
	clock := time.Unix(1_790_000_000, 0)
	r := newRegistry(Config{Concurrency: 16, EndpointConcurrency: 16, Window: 1000}, func() time.Time { return clock })
	claims := func(sub byte, n int) {
		for range n {
			r.claim([]webhookports.Claim{{SubscriptionID: id.ID{sub}}})
		}
	}
	claims(1, 4) // has ended elsewhere
	claims(2, 4) // grew elsewhere
	claims(3, 4) // has ended elsewhere; a claim of it is in flight here
	claims(4, 4) // has ended elsewhere; a POST of it goes on here
	r.begin(webhookports.Claim{SubscriptionID: id.ID{3}, DeliveryID: id.ID{9}})
	require.Nil(t, r.slot(webhookports.Claim{SubscriptionID: id.ID{4}}, false))
	mark := r.mark()
	claims(5, 6) // moved after the mark: a little behind
	claims(6, 6) // moved after the mark: far behind
	claims(7, 1) // moved after the mark: not counted at all
	clock = clock.Add(forgetAfter)
	r.correct(map[id.ID]int{{2}: 7, {5}: 3, {6}: 2, {8}: 5}, mark)
	left := map[id.ID]int{}
	for sub, e := range r.entries {
		left[sub] = e.claimed
	}
	require.Equal(t, map[id.ID]int{{2}: 7, {3}: 0, {4}: 0, {5}: 6, {6}: 2, {7}: 1, {8}: 5}, left)
	require.Equal(t, 7+6+2+1+5, r.claimed)
}
