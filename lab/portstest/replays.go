package portstest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

var replaysSuite = map[string]func(*testing.T, *world){
	"Deliveries_Redeliver_CopiesTheBytesAndNamesTheOriginal": func(t *testing.T, w *world) {
		s := w.subscribe(w.partner().ID)
		d := w.testDelivery(s, at0)
		first := ports.Copy{Of: d.ID, As: idAt(at0.Add(time.Hour))}
		second := ports.Copy{Of: first.As, As: idAt(at0.Add(2 * time.Hour))}
		for _, c := range []ports.Copy{first, second} {
			made := w.redeliver(s.ID, c)
			require.Len(t, made, 1)
			require.Nil(t, made[0].Body)
			got, err := w.Delivery(t.Context(), s.ID, c.As)
			require.NoError(t, err)
			require.Equal(t, d.Body, got.Body)
			require.WithinDuration(t, time.Now(), got.DueAt, time.Minute)
			want := d
			want.ID, want.RedeliveryOf, want.CreatedAt, want.DueAt, want.BodySHA256 = c.As, d.ID, c.As.Time(), got.DueAt, got.BodySHA256
			require.Empty(t, cmp.Diff(want, got))
			got.Body = nil
			require.Empty(t, cmp.Diff(got, made[0]))
		}
	},
	"Deliveries_Redeliver_PassesOverWhatIsNotThere": func(t *testing.T, w *world) {
		s, other := w.subscribe(w.partner().ID), w.subscribe(w.partner().ID)
		d, foreign := w.testDelivery(s, at0), w.testDelivery(other, at0)
		made := w.redeliver(s.ID, ports.Copy{Of: NewID(), As: NewID()}, ports.Copy{Of: foreign.ID, As: NewID()}, ports.Copy{Of: d.ID, As: NewID()})
		require.Len(t, made, 1)
		require.Equal(t, d.ID, made[0].RedeliveryOf)
	},
	"Deliveries_Redeliver_WhileDisabledOrDeleted_AddsNothing": func(t *testing.T, w *world) {
		s := w.subscribe(w.partner().ID)
		d := w.testDelivery(s, at0)
		s.Enabled, s.DisabledReason = false, webhook.DisabledByPartner
		w.update(s)
		require.Empty(t, w.redeliver(s.ID, ports.Copy{Of: d.ID, As: NewID()}))
		s.Enabled, s.DisabledReason = true, ""
		w.update(s)
		w.do(func(ctx context.Context, r ports.Repositories) error { return r.Subscriptions.Delete(ctx, s.ID, at0) })
		require.Empty(t, w.redeliver(s.ID, ports.Copy{Of: d.ID, As: NewID()}))
	},
	"Subscriptions_ByID_IsAnyPartnersUntilItIsDeleted": func(t *testing.T, w *world) {
		s := w.subscribe(w.partner().ID)
		got, err := w.SubscriptionByID(t.Context(), s.ID)
		require.NoError(t, err)
		require.Equal(t, s, got)
		w.do(func(ctx context.Context, r ports.Repositories) error { return r.Subscriptions.Delete(ctx, s.ID, at0) })
		for _, unknown := range []id.ID{s.ID, NewID()} {
			_, err = w.SubscriptionByID(t.Context(), unknown)
			require.ErrorIs(t, err, webhook.ErrNotFound)
		}
	},
	"Replays_Next_GivesWhatIsDue_AsItWasStored": func(t *testing.T, w *world) {
		r := w.replay(w.subscribe(w.partner().ID), at0)
		_, ok := w.next(at0.Add(-time.Microsecond))
		require.False(t, ok)
		got, ok := w.next(at0)
		require.True(t, ok)
		require.Empty(t, cmp.Diff(r, got))

		moved := r.After(make([]id.ID, r.Step()), 49, at0)
		moved.Cursor = NewID()
		w.progress(r, moved)
		_, ok = w.next(at0)
		require.False(t, ok)
		got, ok = w.next(moved.NextAt)
		require.True(t, ok)
		require.Empty(t, cmp.Diff(moved, got))

		w.progress(moved, moved.After(nil, 0, at0))
		_, ok = w.next(at0.Add(time.Hour))
		require.False(t, ok, "it is finished")
	},
	"Replays_Update_OfOneThatMovedOnMeanwhile_ChangesNothing": func(t *testing.T, w *world) {
		r := w.replay(w.subscribe(w.partner().ID), at0)
		moved := r.After(make([]id.ID, r.Step()), 50, at0)
		moved.Cursor = NewID()
		w.progress(r, moved)
		stale := r
		stale.NextAt = at0.Add(time.Minute)
		w.progress(r, stale)
		got, ok := w.next(at0.Add(time.Hour))
		require.True(t, ok)
		require.Empty(t, cmp.Diff(moved, got))
	},
	"Replays_Next_OneOfASubscriptionAtATime_NoneWhileDisabled": func(t *testing.T, w *world) {
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
		w.progress(first, first.After(nil, 0, at0))
		got, _ = w.next(at0)
		require.Equal(t, second.ID, got.ID)
	},
	"Replays_Next_PassesOverWhatAnotherHolds": func(t *testing.T, w *world) {
		s, other := w.subscribe(w.partner().ID), w.subscribe(w.partner().ID)
		w.replay(s, at0)
		w.replay(s, at0)
		w.do(func(ctx context.Context, r ports.Repositories) error {
			_, ok, err := r.Replays.Next(ctx, at0)
			require.NoError(t, err)
			require.True(t, ok)
			_, ok = w.next(at0)
			require.False(t, ok)
			w.replay(other, at0)
			got, _ := w.next(at0)
			require.Equal(t, other.ID, got.SubscriptionID)
			return nil
		})
	},
	"Replays_OfADeletedSubscription_MatchNothing_AndAreGivenToBeEnded": func(t *testing.T, w *world) {
		s := w.subscribe(w.partner().ID)
		r := w.replay(s, at0)
		w.do(func(ctx context.Context, repos ports.Repositories) error {
			return repos.Subscriptions.Delete(ctx, s.ID, at0)
		})
		got, ok := w.next(at0)
		require.True(t, ok)
		require.Equal(t, r.ID, got.ID)
		w.do(func(ctx context.Context, repos ports.Repositories) error {
			found, err := repos.Replays.Matching(ctx, r, 10)
			require.Empty(t, found)
			return err
		})
	},
	"Replays_Matching_TestsAndRedeliveriesAreNotRepeated": func(t *testing.T, w *world) {
		s := w.subscribe(w.partner().ID)
		w.redeliver(s.ID, ports.Copy{Of: w.testDelivery(s, at0).ID, As: NewID()})
		r := w.replay(s, time.Now().Add(time.Hour))
		r.Status = webhook.StatusPending
		n, err := w.CountMatching(t.Context(), r)
		require.NoError(t, err)
		require.Zero(t, n)
	},
	"Replays_DeleteFinished_KeepsTheOthers": func(t *testing.T, w *world) {
		s := w.subscribe(w.partner().ID)
		over := w.replay(s, at0)
		w.replay(s, at0)
		w.progress(over, over.After(nil, 0, at0))
		forget := func(before time.Time) (n int) {
			w.do(func(ctx context.Context, r ports.Repositories) (err error) {
				n, err = r.Replays.DeleteFinished(ctx, before, 10)
				return err
			})
			return n
		}
		require.Zero(t, forget(over.ID.Time()))
		require.Equal(t, 1, forget(time.Now().Add(time.Hour)))
		_, ok := w.next(at0)
		require.True(t, ok)
	},
}

func (w *world) redeliver(subscriptionID id.ID, copies ...ports.Copy) (made []webhook.Delivery) {
	w.t.Helper()
	w.do(func(ctx context.Context, r ports.Repositories) (err error) {
		made, err = r.Deliveries.Redeliver(ctx, subscriptionID, copies)
		return err
	})
	return made
}

// replay adds a replay with the first step at the given time.
func (w *world) replay(s webhook.Subscription, at time.Time) webhook.Replay {
	w.t.Helper()
	r, err := webhook.NewReplay(NewID(), s.ID, at.Add(-time.Hour), at, "", at)
	require.NoError(w.t, err)
	r.Matched = 7
	w.do(func(ctx context.Context, repos ports.Repositories) error { return repos.Replays.Insert(ctx, r) })
	return r
}

func (w *world) next(now time.Time) (r webhook.Replay, ok bool) {
	w.t.Helper()
	w.do(func(ctx context.Context, repos ports.Repositories) (err error) {
		r, ok, err = repos.Replays.Next(ctx, now)
		return err
	})
	return r, ok
}

func (w *world) progress(before, after webhook.Replay) {
	w.t.Helper()
	w.do(func(ctx context.Context, repos ports.Repositories) error {
		return repos.Replays.Update(ctx, before, after)
	})
}
