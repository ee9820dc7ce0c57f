package dispatchstore

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

func TestWatermarks_StartWhereTheScanBeforeFoundRows_AndAtTheBeginningNowAndThen(t *testing.T) {
	t.Parallel()
	var w watermarks[string, int]
	require.Zero(t, w.start("a"), "the first scan")
	w.set("a", 7, true)
	require.Equal(t, 7, w.start("a"))
	w.set("a", 9, true)
	require.Equal(t, 9, w.start("a"))
	require.Zero(t, w.start("b"), "another backlog")

	m := w.byKey["a"]
	m.full = time.Now().Add(-fullEvery)
	w.byKey["a"] = m
	require.Zero(t, w.start("a"), "a full scan finds rows below the watermark")
	w.set("a", 3, true)
	require.Equal(t, 3, w.start("a"))

	w.set("a", 0, false)
	require.NotContains(t, w.byKey, "a", "a consumed backlog is forgotten")
	require.Zero(t, w.start("a"))
}

// look is a look at an outbox whose first row is first, by a transaction that sees the end of all before xmin.
func (w *outboxWatermark) lookAt(first, last, xmin, xmax int64) (from int64) {
	v := w.look(1)
	v.first, v.last, v.xmin, v.xmax = first, last, xmin, xmax
	w.saw(v)
	return v.from
}

func TestOutboxWatermark_RisesWhenTheTransactionsBefore_HaveEnded(t *testing.T) {
	t.Parallel()
	const none = -1
	var w outboxWatermark
	require.Zero(t, w.lookAt(1, 100, 10, 20), "the first look")
	require.Zero(t, w.lookAt(none, 100, 11, 22), "100 were drawn by transactions below 22")
	require.Zero(t, w.lookAt(none, 100, 21, 30), "one of them still runs, and may commit a row of these positions")
	require.Zero(t, w.lookAt(none, 100, 22, 30))
	require.EqualValues(t, 101, w.lookAt(none, 150, 30, 40), "all have ended")
	require.EqualValues(t, 101, w.lookAt(120, 150, 40, 50), "150 were drawn by transactions below 50")
	require.EqualValues(t, 101, w.lookAt(120, 150, 50, 50))
	require.EqualValues(t, 120, w.lookAt(120, 150, 50, 50), "a row that is there holds the watermark")

	w.full = time.Now().Add(-fullEvery)
	require.Zero(t, w.lookAt(7, 150, 40, 40), "a full scan finds rows below the watermark")
	require.EqualValues(t, 7, w.look(1).from)

	w.asked = time.Now().Add(-fullEvery)
	require.Zero(t, w.ask())
	w.answered(0, true)
	require.Zero(t, w.look(1).from, "the relay looks where the question found rows")
}

func TestOutboxWatermark_OfAnotherServer_IsForgotten(t *testing.T) {
	t.Parallel()
	raised := func() (w *outboxWatermark) {
		w = &outboxWatermark{}
		for range 4 {
			w.lookAt(-1, 100, 30, 30)
		}
		require.EqualValues(t, 101, w.look(1).from)
		return w
	}
	require.Zero(t, raised().look(2).from, "a new connection may lead to another server")
	w := raised()
	w.lookAt(-1, 90, 40, 40)
	require.Zero(t, w.look(1).from, "positions are drawn again")
}

func TestRelayedMemory_GivesAFreshDeliveryOnce_AndForgetsStaleClaims(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &relayedMemory{}
		sub := id.ID{1}
		claim := func(n byte) webhookports.Claim {
			return webhookports.Claim{DeliveryID: id.ID{n}, SubscriptionID: sub, Seq: 1}
		}
		keep := func(n byte) {
			m.keep([]webhookports.Claim{claim(n)},
				[]webhookports.Delivery{{Claim: webhookports.Claim{DeliveryID: id.ID{n}, SubscriptionID: sub}, Body: []byte{n}}},
				batch{subscriptions: []webhookports.Subscription{{ID: sub}}, readAt: time.Now(),
					targets: map[id.ID]target{sub: {url: "https://example.com", sealed: []byte("s")}}}, time.Minute)
		}
		keep(1)
		<-time.After(webhook.MaxSubscriptionCacheAge - time.Millisecond)
		keep(2)
		d, found := m.take(claim(1))
		require.True(t, found)
		require.True(t, d.Found && d.Current && d.Enabled && d.Healthy)
		require.Equal(t, []byte{1}, d.Body)
		require.Equal(t, time.Minute-webhook.MaxSubscriptionCacheAge+time.Millisecond, d.LeaseLeft)
		_, found = m.take(claim(1))
		require.False(t, found, "a second load asks the database")

		renewed := claim(2)
		renewed.Seq++
		_, found = m.take(renewed)
		require.False(t, found)
		m.forget([]webhookports.Claim{claim(2)})
		_, found = m.take(claim(2))
		require.False(t, found)

		keep(3)
		<-time.After(webhook.MaxSubscriptionCacheAge)
		_, found = m.take(claim(3))
		require.False(t, found, "the subscription may have changed")
		for n := byte(4); n < 200; n++ {
			keep(n)
			<-time.After(webhook.MaxSubscriptionCacheAge / 10)
			require.LessOrEqual(t, len(m.now)+len(m.before), 22)
		}
		keep(200)
		m.forgetAll()
		_, found = m.take(claim(200))
		require.False(t, found)
	})
}
