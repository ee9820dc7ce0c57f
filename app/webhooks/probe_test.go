//go:build !unit

package webhooks_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/servicetest"
	webhookports "partnerdeposits/ports/webhooks"
)

// A probe ends the wait of open circuits and of retries, of the endpoints that it is for, and is audited.
func TestProbe_ReleasesTheCircuitsAndRetriesThatItIsFor(t *testing.T) {
	f := newFixture(t)
	other := f.caller("other")
	ofOther, healthy := f.subscribe(other), f.subscribe(f.by)
	hold := func() {
		_, err := f.Pool.Exec(t.Context(), `
			UPDATE webhook_subscriptions SET failures = 30, failing_since = now() - interval '1 hour', holds = 9,
			held_until = now() + interval '5 minutes'
			WHERE id <> $1`, healthy)
		require.NoError(t, err)
	}
	for _, sub := range []id.ID{f.sub, ofOther, healthy} {
		f.sent(sub, 2, webhook.Waiting, -time.Hour) // due in an hour
	}
	for name, c := range map[string]struct {
		of      webhookports.ProbeOf
		want    webhookports.Probed
		subject string
	}{
		"a subscription": {webhookports.ProbeOf{SubscriptionID: f.sub},
			webhookports.Probed{Circuits: 1, Deliveries: 2}, id.Subscription.Of(f.sub)},
		"a partner": {webhookports.ProbeOf{PartnerID: other.Partner.ID},
			webhookports.Probed{Circuits: 1, Deliveries: 2}, id.Partner.Of(other.Partner.ID)},
		"all":                     {webhookports.ProbeOf{}, webhookports.Probed{Circuits: 2, Deliveries: 4}, "webhooks"},
		"those that failed since": {webhookports.ProbeOf{FailedSince: time.Now()}, webhookports.Probed{}, "webhooks"},
		"a healthy one": {webhookports.ProbeOf{SubscriptionID: healthy}, webhookports.Probed{},
			id.Subscription.Of(healthy)},
	} {
		hold()
		_, err := f.Pool.Exec(t.Context(), `UPDATE deliveries SET due_at = now() + interval '1 hour'`)
		require.NoError(t, err)
		entry := fmt.Sprintf(
			`actor = 'admin' AND action = 'webhook.probe' AND subject = '%s' AND detail ->> 'circuits' = '%d' AND detail ->> 'deliveries' = '%d'`,
			c.subject, c.want.Circuits, c.want.Deliveries)
		entries := f.Count("audit_log", entry)
		got, err := f.Webhooks.Probe(t.Context(), c.of)
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
		require.Equal(t, c.want.Circuits,
			f.Count("webhook_subscriptions", "held_until <= now() AND holds = 0 AND failures = 30"), name)
		require.Equal(t, c.want.Deliveries, f.Count("deliveries", "due_at <= now()"), name)
		require.Equal(t, entries+1, f.Count("audit_log", entry), name)
	}
	_, err := f.Webhooks.Probe(t.Context(), webhookports.ProbeOf{SubscriptionID: servicetest.NewID()})
	require.ErrorIs(t, err, webhook.ErrNotFound)
	f.enable(false)
	_, err = f.Webhooks.Probe(t.Context(), webhookports.ProbeOf{SubscriptionID: f.sub})
	require.ErrorIs(t, err, webhook.ErrDisabled)
}
