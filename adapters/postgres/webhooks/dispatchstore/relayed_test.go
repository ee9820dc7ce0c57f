package dispatchstore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/storetest"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// A subscription that is deleted or rotated after the relay's reading waits for the relay's commit. What the worker of
// this process takes from the relay must be what the database has.
func TestLoad_OfAClaimJustRelayed_EqualsTheDatabase_WithoutAQuery(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	from := storetest.Origin(t, store)
	sub := webhook.Subscription{ID: portstest.NewID(), PartnerID: from.PartnerID, URL: "https://example.com/a?b",
		Events: webhook.EventNames, Enabled: true, CreatedAt: time.Now(), Standard: true}
	storetest.Do(t, store, func(ctx context.Context, r *postgres.Store) error {
		return errors.Join(r.Outbox.Append(ctx, storetest.Event(from.PartnerID, portstest.NewID())),
			r.Subscriptions.Insert(ctx, sub, "svc_whsec_k"))
	})
	s, other := dispatchOver(t, pool.Config().ConnString()), dispatchOver(t, pool.Config().ConnString())
	_, claims, err := s.Relay(t.Context(), 10, time.Hour,
		func(events []ports.Event, _ []webhookports.Subscription) []webhookports.Delivery {
			return []webhookports.Delivery{dispatched(&events[0], sub.ID)}
		})
	require.NoError(t, err)
	require.Len(t, claims, 1)
	s.WithTimeout(time.Nanosecond) // no query is answered
	own, err := s.Load(t.Context(), claims)
	require.NoError(t, err)
	s.WithTimeout(time.Minute)
	asked, err := other.Load(t.Context(), claims)
	require.NoError(t, err)
	for _, loaded := range [][]webhookports.Delivery{own, asked} {
		d := &loaded[0]
		require.InDelta(t, time.Hour, d.LeaseLeft, float64(time.Minute))
		require.Less(t, d.Skew.Abs(), time.Minute)
		d.LeaseLeft, d.Skew, d.ReadAt, d.DepositID = 0, 0, time.Time{}, id.ID{} // the deposit is planned, not loaded
		d.EventAt = d.EventAt.UTC()
		d.State = webhook.Dispatched
	}
	require.Equal(t, asked, own)
	require.True(t, own[0].Standard)

	again, err := s.Load(t.Context(), claims)
	require.NoError(t, err)
	require.True(t, again[0].Current)
}
