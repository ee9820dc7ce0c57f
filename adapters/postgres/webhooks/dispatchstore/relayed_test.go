package dispatchstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/webhooks/dispatchstore"
	"partnerdeposits/core/fault"
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
	_, claims, err := s.Relay(t.Context(), 10, time.Hour, s.plan, nil)
	require.NoError(t, err)
	require.Len(t, claims, 1)
	s.WithQueryTimeout(time.Nanosecond) // no query is answered
	own, err := s.LoadClaimed(t.Context(), claims)
	require.NoError(t, err)
	s.WithQueryTimeout(time.Minute)
	asked, err := other.LoadClaimed(t.Context(), claims)
	require.NoError(t, err)
	require.True(t, own[0].Filed())
	for _, loaded := range [][]webhookports.Delivery{own, asked} {
		d := &loaded[0]
		require.InDelta(t, time.Hour, d.LeaseLeft, float64(time.Minute))
		require.Less(t, d.Skew.Abs(), time.Minute)
		d.LeaseLeft, d.Skew, d.ReadAt, d.DepositID = 0, 0, time.Time{}, id.ID{} // the deposit is planned, not loaded
		d.Filed = nil
		d.EventAt = d.EventAt.UTC()
		d.State = webhook.DeliveryStateDispatched
	}
	require.Equal(t, asked, own)
	require.True(t, own[0].Standard)

	again, err := s.LoadClaimed(t.Context(), claims)
	require.NoError(t, err)
	require.True(t, again[0].Current)
}

// filingRelay relays an event to a subscription, and calls ahead before the commit.
func filingRelay(t *testing.T, ahead func(s *dispatchstore.Store, c webhookports.Claim, end context.CancelFunc)) (
	s *dispatchstore.Store, claims []webhookports.Claim, err error) {
	t.Helper()
	t.Parallel()
	over := newSubscribed(t, 1, postgres.PoolOptions{})
	ctx, end := context.WithCancel(t.Context())
	defer end()
	_, claims, err = over.Relay(ctx, 10, time.Hour, over.plan, func(claims []webhookports.Claim) {
		require.Len(t, claims, 1)
		ahead(over.Store, claims[0], end)
	})
	return over.Store, claims, err
}

func loadOne(t *testing.T, s *dispatchstore.Store, c webhookports.Claim) webhookports.Delivery {
	t.Helper()
	loaded, err := s.LoadClaimed(t.Context(), []webhookports.Claim{c})
	require.NoError(t, err)
	return loaded[0]
}

func TestLoad_BeforeTheCommit_LetsTheWorkerWaitForTheCommit(t *testing.T) {
	var loaded webhookports.Delivery
	var early webhookports.Claim
	filed := make(chan bool, 1)
	_, claims, err := filingRelay(t, func(s *dispatchstore.Store, c webhookports.Claim, _ context.CancelFunc) {
		loaded, early = loadOne(t, s, c), c
		go func() { filed <- loaded.Filed() }()
		select {
		case <-filed:
			require.Fail(t, "the claim is not committed yet")
		default:
		}
	})
	require.NoError(t, err)
	require.Equal(t, []webhookports.Claim{early}, claims)
	require.True(t, <-filed)
	require.True(t, loaded.Found && loaded.Current)
}

func TestLoad_BeforeACommitThatFails_IsOfNoClaim(t *testing.T) {
	var loaded webhookports.Delivery
	s, _, err := filingRelay(t, func(s *dispatchstore.Store, c webhookports.Claim, end context.CancelFunc) {
		loaded = loadOne(t, s, c)
		end()
	})
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.False(t, loaded.Filed())
	require.False(t, loadOne(t, s, loaded.Claim).Found)
}

func TestRelease_BeforeTheCommit_GivesUpTheClaim(t *testing.T) {
	released := make(chan error, 1)
	s, claims, err := filingRelay(t, func(s *dispatchstore.Store, c webhookports.Claim, _ context.CancelFunc) {
		go func() { released <- s.ReleaseClaims(context.WithoutCancel(t.Context()), []webhookports.Claim{c}) }()
		select {
		case err := <-released:
			require.Fail(t, "a claim is given up that is not committed yet", "%v", err)
		case <-time.After(100 * time.Millisecond):
		}
	})
	require.NoError(t, err)
	require.NoError(t, <-released)
	claims[0].Seq++ // not in the memory of the relay
	require.Equal(t, webhook.DeliveryStateWaiting, loadOne(t, s, claims[0]).State)
}

// The memory of the relay is gone, but its commit is not forgotten.
func TestLoad_BeforeTheCommit_WithoutTheMemory_WaitsForTheCommit(t *testing.T) {
	loaded := make(chan []webhookports.Delivery, 1)
	_, _, err := filingRelay(t, func(s *dispatchstore.Store, c webhookports.Claim, _ context.CancelFunc) {
		_, err := s.ExpireLeases(t.Context(), 0, time.Hour, time.Minute, []id.ID{})
		require.NoError(t, err)
		go func() {
			got, _ := s.LoadClaimed(context.WithoutCancel(t.Context()), []webhookports.Claim{c})
			loaded <- got
		}()
	})
	require.NoError(t, err)
	got := <-loaded
	require.Len(t, got, 1)
	require.True(t, got[0].Current)
}

// The start delay is measured from the commit of the event, of claims that were made together with the delivery.
func TestClaims_OfTheRelay_TellWhenTheirEventWasCommitted(t *testing.T) {
	t.Parallel()
	s := newSubscribed(t, 1, postgres.PoolOptions{})
	_, claims, err := s.Relay(t.Context(), 10, time.Hour, s.plan, nil)
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
