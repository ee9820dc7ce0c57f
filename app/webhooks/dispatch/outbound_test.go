//go:build !unit

package dispatch_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/webhooks/dispatch"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/webhook"
)

// cutOff gives two partners an endpoint each, which break every connection while cut is set.
func (f *fixture) cutOff(cut *atomic.Bool) (subs []id.ID) {
	for _, slug := range []string{"first", "second"} {
		server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			if cut.Load() {
				panic(http.ErrAbortHandler)
			}
		}))
		f.t.Cleanup(server.Close)
		f.partner = f.PartnerWithSecret(slug, "", func(p *partner.Partner) { p.ContactEmail = slug + "@demo.example" }).ID
		subs = append(subs, f.subscribe(server.URL))
		f.emit(webhook.DepositActivated, 1)
	}
	return subs
}

// While our own way out is broken, waits for probes are short, nothing is disabled, and nobody is mailed. After the
// repair, retries do not wait for their time.
func TestOutbound_Broken_BlamesNoEndpoint_AndDeliversSoonAfterTheRepair(t *testing.T) {
	f := newFixture(t)
	var cut, broken atomic.Bool
	cut.Store(true)
	subs := f.cutOff(&cut)
	var counted reached
	f.run(func(d *dispatch.Deps, c *dispatch.Config) {
		d.Metrics, d.OutboundBroken = &counted, broken.Store
		c.Schedule = webhook.Schedule{0, time.Hour, time.Hour, time.Hour}
	})
	for _, sub := range subs {
		f.becomes(sub, webhook.EndpointFailing)
	}
	f.exec(`UPDATE webhook_subscriptions SET failures = 30, failing_since = now() - interval '6 days', holds = 9`)
	f.eventually("the break is noticed", broken.Load)
	f.emit(webhook.DepositActivated, 1) // to the second
	f.becomes(subs[1], webhook.EndpointHeld)
	require.Equal(t, 1, f.Count("webhook_subscriptions",
		`holds = 4 AND held_until < now() + interval '16 seconds' AND held_from = failing_since AND held_till IS NULL`))
	require.Equal(t, 2, f.Count("webhook_subscriptions", "enabled"), "days of failures disable nothing now")
	f.emit(webhook.DepositActivated, 3) // held back
	require.Empty(t, f.mailed())
	require.Equal(t, 1, f.Count("webhook_notices", "put_off AND mail_at > now()"), "the notice waits")

	cut.Store(false)
	f.exec(`UPDATE webhook_subscriptions SET held_until = now() WHERE held_until IS NOT NULL`) // 16 s pass
	f.allIn(webhook.Succeeded, 6)
	f.eventually("the end is noticed", func() bool { return !broken.Load() })
	f.exec(`UPDATE webhook_notices SET mail_at = now()`)
	require.Empty(t, f.mailed(), "it is over")
	require.Zero(t, f.Count("webhook_notices", "NOT put_off"))
	f.emit(webhook.DepositActivated, 20) // ends the ramp
	f.becomes(subs[1], webhook.EndpointHealthy)
	require.Equal(t, 1, f.Count("webhook_subscriptions", `held_till > held_from`))
}
