package dispatchstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

// A subscription that is deleted or rotated after the relay's reading waits for the relay's commit. What the worker of
// this process takes from the relay must be what the database has.
func TestLoad_OfAClaimJustRelayed_EqualsTheDatabase_WithoutAQuery(t *testing.T) {
	t.Parallel()
	s := newSubscribed(t, 1, postgres.PoolOptions{})
	other := dispatchOver(t, s.pool.Config().ConnString())
	_, claims, err := s.Relay(t.Context(), 10, time.Hour, s.plan)
	require.NoError(t, err)
	require.Len(t, claims, 1)
	s.WithQueryTimeout(time.Nanosecond) // no query is answered
	own, err := s.LoadClaimed(t.Context(), claims)
	require.NoError(t, err)
	s.WithQueryTimeout(time.Minute)
	asked, err := other.LoadClaimed(t.Context(), claims)
	require.NoError(t, err)
	for _, loaded := range [][]webhookports.Delivery{own, asked} {
		d := &loaded[0]
		require.InDelta(t, time.Hour, d.LeaseLeft, float64(time.Minute))
		require.Less(t, d.Skew.Abs(), time.Minute)
		d.LeaseLeft, d.Skew, d.ReadAt, d.DepositID = 0, 0, time.Time{}, id.ID{} // the deposit is planned, not loaded
		d.EventAt = d.EventAt.UTC()
		d.State = webhook.DeliveryStateDispatched
	}
	require.Equal(t, asked, own)
	require.True(t, own[0].Standard)

	again, err := s.LoadClaimed(t.Context(), claims)
	require.NoError(t, err)
	require.True(t, again[0].Current)
}

// The start delay is measured from the commit of the event, of claims that were made together with the delivery.
func TestClaims_OfTheRelay_TellWhenTheirEventWasCommitted(t *testing.T) {
	t.Parallel()
	s := newSubscribed(t, 1, postgres.PoolOptions{})
	_, claims, err := s.Relay(t.Context(), 10, time.Hour, s.plan)
	require.NoError(t, err)
	require.Len(t, claims, 1)
	require.WithinDuration(t, time.Now(), claims[0].DueAt, time.Minute)
	renewed, err := s.RenewClaims(t.Context(), claims, time.Hour)
	require.NoError(t, err)
	require.Len(t, renewed, 1)
	require.True(t, renewed[0].DueAt.Equal(claims[0].DueAt))

	require.NoError(t, s.ReleaseClaims(t.Context(), renewed))
	due, err := s.ClaimDue(t.Context(), []webhookports.ClaimQuota{{SubscriptionID: s.sub.ID, Room: 1}}, 0)
	require.NoError(t, err)
	require.Len(t, due, 1)
	require.Zero(t, due[0].DueAt)
	renewed, err = s.RenewClaims(t.Context(), due, 0)
	require.NoError(t, err)
	require.True(t, renewed[0].DueAt.IsZero())
	recovered, _, err := s.ClaimUrgent(t.Context(), 1, time.Hour)
	require.NoError(t, err)
	require.Len(t, recovered, 1)
	require.Zero(t, recovered[0].DueAt)
}
