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
				[]webhookports.Subscription{{ID: sub}}, map[id.ID]target{sub: {url: "https://example.com", sealed: []byte("s")}},
				time.Now(), time.Minute)
		}
		keep(1)
		<-time.After(webhook.Freshness - time.Millisecond)
		keep(2)
		d, found := m.take(claim(1))
		require.True(t, found)
		require.True(t, d.Found && d.Current && d.Enabled && d.Healthy)
		require.Equal(t, []byte{1}, d.Body)
		require.Equal(t, time.Minute-webhook.Freshness+time.Millisecond, d.LeaseLeft)
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
		<-time.After(webhook.Freshness)
		_, found = m.take(claim(3))
		require.False(t, found, "the subscription may have changed")
		for n := byte(4); n < 200; n++ {
			keep(n)
			<-time.After(webhook.Freshness / 10)
			require.LessOrEqual(t, len(m.now)+len(m.before), 22)
		}
		keep(200)
		m.forgetAll()
		_, found = m.take(claim(200))
		require.False(t, found)
	})
}
