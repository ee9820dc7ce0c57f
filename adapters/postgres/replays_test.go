package postgres_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/portstest"
	webhookports "partnerdeposits/ports/webhooks"
)

func TestDeliveries_Redeliver_PassesOverWhatIsNotThere(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	s, other := w.subscribe(w.partner().ID), w.subscribe(w.partner().ID)
	d, foreign := w.testDelivery(s, at0), w.testDelivery(other, at0)
	made := w.redeliver(s.ID, webhookports.Redelivery{Of: portstest.NewID(), As: portstest.NewID()},
		webhookports.Redelivery{Of: foreign.ID, As: portstest.NewID()},
		webhookports.Redelivery{Of: d.ID, As: portstest.NewID()})
	require.Len(t, made, 1)
	require.Equal(t, d.ID, made[0].RedeliveryOf)
}

// Fifty redeliveries of one moment would delay the webhooks of others.
func TestDeliveries_Redeliver_Many_BecomeDueOneAfterAnother(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	s := w.subscribe(w.partner().ID)
	var copies []webhookports.Redelivery
	for range 50 {
		copies = append(copies, webhookports.Redelivery{Of: w.testDelivery(s, at0).ID, As: portstest.NewID()})
	}
	made := w.redeliver(s.ID, copies...)
	require.Len(t, made, 50)
	slices.SortFunc(made, func(a, b webhook.Delivery) int { return a.DueAt.Compare(b.DueAt) })
	for i, d := range made {
		require.Equal(t, time.Duration(i)*20*time.Millisecond, d.DueAt.Sub(made[0].DueAt))
	}
}

func TestDeliveries_Redeliver_WhileDisabledOrDeleted_AddsNothing(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	s := w.subscribe(w.partner().ID)
	d := w.testDelivery(s, at0)
	s.Enabled, s.DisabledReason = false, webhook.DisabledByPartner
	w.update(s)
	require.Empty(t, w.redeliver(s.ID, webhookports.Redelivery{Of: d.ID, As: portstest.NewID()}))
	s.Enabled, s.DisabledReason = true, ""
	w.update(s)
	w.do(func(ctx context.Context, r *postgres.Store) error { return r.Subscriptions.Delete(ctx, s.ID, at0) })
	require.Empty(t, w.redeliver(s.ID, webhookports.Redelivery{Of: d.ID, As: portstest.NewID()}))
}

// Two replays that are asked for at once cannot both take the last place of the limit: the second insert waits until
// the first has committed.
func TestReplays_Insert_AtTheLimit_WaitsForTheOneBefore(t *testing.T) {
	t.Parallel()
	w := alone(t)
	s := w.subscribe(w.partner().ID)
	insert := func(ctx context.Context) error {
		r, err := webhook.NewReplay(portstest.NewID(), s.ID, at0.Add(-time.Hour), at0, "", at0)
		require.NoError(t, err)
		return w.Replays.Insert(ctx, r, 1)
	}
	w.do(func(ctx context.Context, _ *postgres.Store) error {
		require.NoError(t, insert(ctx))
		brief, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		require.Error(t, w.WithinTx(brief, insert))
		require.Error(t, brief.Err(), "the second waits")
		return nil
	})
	require.ErrorIs(t, w.WithinTx(t.Context(), insert), webhook.ErrReplayLimit)
}

func TestReplays_Next_GivesWhatIsDue_AsItWasStored(t *testing.T) {
	t.Parallel()
	w := alone(t)
	r := w.replay(w.subscribe(w.partner().ID), at0)
	_, ok := w.next(at0.Add(-time.Microsecond))
	require.False(t, ok)
	got, ok := w.next(at0)
	require.True(t, ok)
	require.Empty(t, cmp.Diff(r, got))

	moved := r.AdvancedByStep(make([]id.ID, r.StepSize()), 49, at0)
	moved.Cursor = portstest.NewID()
	w.progress(r, moved)
	_, ok = w.next(at0)
	require.False(t, ok)
	got, ok = w.next(moved.NextAt)
	require.True(t, ok)
	require.Empty(t, cmp.Diff(moved, got))

	w.progress(moved, moved.AdvancedByStep(nil, 0, at0))
	_, ok = w.next(at0.Add(time.Hour))
	require.False(t, ok, "it is finished")

	underWay := w.replay(w.subscribe(w.partner().ID), at0)
	for want, before := range []time.Time{time.Now().Add(-time.Hour), time.Now().Add(time.Hour)} {
		w.do(func(ctx context.Context, r *postgres.Store) error {
			n, err := r.Replays.DeleteFinished(ctx, before, 10)
			require.Equal(t, want, n, "one is finished, and young")
			return err
		})
	}
	got, ok = w.next(at0)
	require.True(t, ok)
	require.Equal(t, underWay.ID, got.ID)
}

func TestReplays_Update_OfOneThatMovedOnMeanwhile_ChangesNothing(t *testing.T) {
	t.Parallel()
	w := alone(t)
	r := w.replay(w.subscribe(w.partner().ID), at0)
	moved := r.AdvancedByStep(make([]id.ID, r.StepSize()), 50, at0)
	moved.Cursor = portstest.NewID()
	w.progress(r, moved)
	stale := r
	stale.NextAt = at0.Add(time.Minute)
	w.progress(r, stale)
	got, ok := w.next(at0.Add(time.Hour))
	require.True(t, ok)
	require.Empty(t, cmp.Diff(moved, got))
}

// A dispatcher whose step failed puts the replay off, and knows the pace of before.
func TestReplays_Update_LeavesThePaceThatOthersHaveUsed(t *testing.T) {
	t.Parallel()
	w := alone(t)
	by := w.partner().ID
	failed, made := w.replay(w.subscribe(by), at0), w.replay(w.subscribe(by), at0)
	failed.PacedUntil = at0.Add(-time.Second)
	w.progress(made, made.AdvancedByStep(make([]id.ID, made.StepSize()), 50, at0))
	w.progress(failed, failed.Postponed(at0))
	waits := w.replay(w.subscribe(by), at0)
	_, ok := w.next(at0.Add(time.Second - time.Microsecond))
	require.False(t, ok)
	got, _ := w.next(at0.Add(time.Second))
	require.Equal(t, waits.ID, got.ID)
}

func TestReplays_Next_OneOfASubscriptionAtATime_NoneWhileDisabled(t *testing.T) {
	t.Parallel()
	w := alone(t)
	s := w.subscribe(w.partner().ID)
	first, second := w.replay(s, at0), w.replay(s, at0.Add(-time.Minute))
	got, _ := w.next(at0)
	require.Equal(t, first.ID, got.ID, "the one that was asked for first")
	s.Enabled, s.DisabledReason = false, webhook.DisabledByPartner
	w.update(s)
	_, ok := w.next(at0)
	require.False(t, ok)
	s.Enabled, s.DisabledReason = true, ""
	w.update(s)
	w.progress(first, first.AdvancedByStep(nil, 0, at0))
	got, _ = w.next(at0)
	require.Equal(t, second.ID, got.ID)
}

// Two steps of a partner at once would both read the time until which its replays are paced.
func TestReplays_Next_PassesOverAPartnerThatAnotherHolds(t *testing.T) {
	t.Parallel()
	w := alone(t)
	first := w.partner().ID
	s, sibling, other := w.subscribe(first), w.subscribe(first), w.subscribe(w.partner().ID)
	w.replay(s, at0)
	w.replay(s, at0)
	w.replay(sibling, at0)
	w.do(func(ctx context.Context, r *postgres.Store) error {
		_, ok, err := r.Replays.LockNext(ctx, at0)
		require.NoError(t, err)
		require.True(t, ok)
		_, ok = w.next(at0)
		require.False(t, ok)
		w.replay(other, at0)
		got, _ := w.next(at0)
		require.Equal(t, other.ID, got.SubscriptionID)
		return nil
	})
}

func (w *pooledStore) redeliver(subscriptionID id.ID, copies ...webhookports.Redelivery) (made []webhook.Delivery) {
	w.t.Helper()
	w.do(func(ctx context.Context, r *postgres.Store) (err error) {
		made, err = r.Deliveries.InsertRedeliveries(ctx, subscriptionID, copies)
		return err
	})
	return made
}

// replay adds a replay with the first step at the given time.
func (w *pooledStore) replay(s webhook.Subscription, at time.Time) webhook.Replay {
	w.t.Helper()
	r, err := webhook.NewReplay(portstest.NewID(), s.ID, at.Add(-time.Hour), at, "", at)
	require.NoError(w.t, err)
	r.Matched = 7
	w.do(func(ctx context.Context, repos *postgres.Store) error {
		return repos.Replays.Insert(ctx, r, webhook.MaxUnfinishedReplays)
	})
	return r
}

func (w *pooledStore) next(now time.Time) (r webhook.Replay, ok bool) {
	w.t.Helper()
	w.do(func(ctx context.Context, repos *postgres.Store) (err error) {
		r, ok, err = repos.Replays.LockNext(ctx, now)
		return err
	})
	return r, ok
}

func (w *pooledStore) progress(before, after webhook.Replay) {
	w.t.Helper()
	w.do(func(ctx context.Context, repos *postgres.Store) error {
		return repos.Replays.Update(ctx, before, after)
	})
}
