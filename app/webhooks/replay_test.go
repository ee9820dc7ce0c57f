//go:build !unit

package webhooks_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/app/webhooks"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/servicetest"
)

// replay starts a replay of the deliveries of the last hour.
func (f *fixture) replay(sub id.ID, status webhook.Status) webhook.Replay {
	f.t.Helper()
	r, err := f.Webhooks.Replay(f.t.Context(), f.by, sub,
		webhooks.NewReplay{From: f.clock.Now().Add(-time.Hour), To: f.clock.Now(), Status: status})
	require.NoError(f.t, err)
	return r
}

// steps makes all due steps and gives their number.
func (f *fixture) steps() int {
	f.t.Helper()
	for n := 0; ; n++ {
		advanced, err := f.Webhooks.AdvanceReplay(f.t.Context())
		require.NoError(f.t, err)
		if !advanced {
			return n
		}
	}
}

// open counts the unfinished replays.
func (f *fixture) open() (n int) {
	f.t.Helper()
	require.NoError(f.t,
		f.Pool.QueryRow(f.t.Context(), `SELECT count(*) FROM webhook_replays WHERE finished_at IS NULL`).Scan(&n))
	return n
}

func TestReplay_MatchesTheOriginalsOfItsSpanThatStandAtItsStatus(t *testing.T) {
	f := newFixture(t)
	f.sent(f.sub, 2, webhook.Failed, 2*time.Hour)
	failed := f.sent(f.sub, 3, webhook.Failed, 30*time.Minute)
	f.sent(f.sub, 4, webhook.Succeeded, 20*time.Minute)
	f.sent(f.sub, 5, webhook.Waiting, 10*time.Minute)
	f.sent(f.subscribe(f.by), 7, webhook.Failed, 30*time.Minute)
	_, err := f.Webhooks.Redeliver(t.Context(), f.by, f.sub, failed[0])
	require.NoError(t, err)
	f.Write(func(ctx context.Context, r *postgres.Store) error {
		return r.Deliveries.InsertTest(ctx, webhook.Delivery{ID: servicetest.NewID(), SubscriptionID: f.sub,
			EventID: servicetest.NewID(), Event: webhook.DepositActivated, Body: []byte(`{}`)})
	})

	asked := func(from, to time.Duration, status webhook.Status) webhook.Replay {
		t.Helper()
		r, err := f.Webhooks.Replay(t.Context(), f.by, f.sub,
			webhooks.NewReplay{From: f.clock.Now().Add(-from), To: f.clock.Now().Add(-to), Status: status})
		require.NoError(t, err)
		return r
	}
	require.Equal(t, 3, asked(time.Hour, 0, "").Matched)
	require.Equal(t, 3, asked(time.Hour, 0, webhook.StatusFailed).Matched)
	require.Equal(t, 4, asked(time.Hour, -time.Hour, webhook.StatusSucceeded).Matched)
	require.Equal(t, 5, asked(time.Hour, 0, webhook.StatusPending).Matched)
	require.Zero(t, asked(time.Hour, 0, webhook.StatusRetrying).Matched)
	require.Equal(t, 5, asked(200*time.Hour, 0, webhook.StatusFailed).Matched)
	require.Zero(t, asked(time.Hour, 40*time.Minute, webhook.StatusFailed).Matched)

	r, err := f.Webhooks.Replay(t.Context(), f.by, f.sub, webhooks.NewReplay{From: failed[0].Time(), To: failed[2].Time()})
	require.NoError(t, err)
	require.Equal(t, 2, r.Matched, "from is included, to is not")
}

func TestReplay_Steps_AreFiftyASecond_TheOldestFirst(t *testing.T) {
	f := newFixture(t)
	failed := f.sent(f.sub, 120, webhook.Failed, time.Minute)
	f.sent(f.sub, 300, webhook.Succeeded, time.Minute)
	require.Equal(t, 120, f.replay(f.sub, "").Matched)
	for _, want := range []int{50, 100, 120} {
		require.Equal(t, 1, f.steps())
		require.Equal(t, once(failed[:want]), f.repeated(f.sub))
		require.Zero(t, f.steps(), "the pace holds")
		f.clock.Add(time.Second)
	}
	require.Zero(t, f.open())
	require.Zero(t, f.steps())
	require.Empty(t, f.waited())
}

func TestReplay_Redeliveries_AreNotRepeated_WhoeverMadeThem(t *testing.T) {
	f := newFixture(t)
	failed := f.sent(f.sub, 3, webhook.Failed, time.Minute)
	f.replay(f.sub, "")
	f.steps()
	_, err := f.Pool.Exec(t.Context(),
		`UPDATE deliveries SET state = 3, due_at = NULL, finished_at = now() WHERE redelivery_of IS NOT NULL`)
	require.NoError(t, err)
	f.clock.Add(time.Minute)
	require.Equal(t, 3, f.replay(f.sub, "").Matched, "an outage that goes on does not double them")
	f.steps()
	want := map[id.ID]int{}
	for _, o := range failed {
		want[o] = 2
	}
	require.Equal(t, want, f.repeated(f.sub))
}

func TestReplay_WhatChangedItsStatusMeanwhile_IsPassedOver(t *testing.T) {
	f := newFixture(t)
	waiting := f.sent(f.sub, 60, webhook.Waiting, time.Minute)
	require.Equal(t, 60, f.replay(f.sub, webhook.StatusPending).Matched)
	f.steps()
	_, err := f.Pool.Exec(t.Context(),
		`UPDATE deliveries SET state = 2, due_at = NULL, finished_at = now(), taken_at = now() WHERE id = $1`, waiting[55])
	require.NoError(t, err)
	f.clock.Add(time.Second)
	f.steps()
	require.Equal(t, once(waiting[:55], waiting[56:]), f.repeated(f.sub))
}

func TestReplay_WaitsWhileDisabled_AndEndsWhenDeleted(t *testing.T) {
	f := newFixture(t)
	failed := f.sent(f.sub, 220, webhook.Failed, time.Minute)
	f.replay(f.sub, "")
	require.Equal(t, 1, f.steps())
	f.enable(false)
	f.clock.Add(time.Hour)
	require.Zero(t, f.steps())
	require.Equal(t, 1, f.open())
	f.enable(true)
	require.Equal(t, 2, f.steps(), "a pause is not caught up with")
	require.Equal(t, once(failed[:150]), f.repeated(f.sub))
	require.NoError(t, f.Webhooks.Delete(t.Context(), f.by, f.sub))
	f.clock.Add(time.Minute)
	f.steps()
	require.Zero(t, f.open())
	require.Len(t, f.repeated(f.sub), 150)
}

func TestReplays_OfOneSubscription_GoOneAfterAnother_OfSeveralSideBySide(t *testing.T) {
	f := newFixture(t)
	other := f.subscribe(f.by)
	f.sent(f.sub, 60, webhook.Failed, time.Minute)
	f.sent(other, 60, webhook.Failed, time.Minute)
	f.replay(f.sub, "")
	f.replay(f.sub, "")
	f.replay(other, "")
	require.Equal(t, 2, f.steps(), "one for each subscription")
	require.Equal(t, []int{50, 50}, []int{len(f.repeated(f.sub)), len(f.repeated(other))})
	require.Equal(t, 3, f.open())
	f.clock.Add(time.Second)
	for range 3 {
		f.steps()
		f.clock.Add(time.Second)
	}
	require.Zero(t, f.open())
	for of, n := range f.repeated(f.sub) {
		require.Equal(t, 2, n, of)
	}
}

func TestReplay_Refusals_LeaveNothing(t *testing.T) {
	f := newFixture(t)
	f.sent(f.sub, 1, webhook.Failed, time.Minute)
	stranger := f.subscribe(f.caller("stranger"))
	now := f.clock.Now()
	refused := func(want error, sub id.ID, in webhooks.NewReplay) {
		t.Helper()
		before := f.rows()
		_, err := f.Webhooks.Replay(t.Context(), f.by, sub, in)
		require.ErrorIs(t, err, want)
		require.Equal(t, before, f.rows())
	}
	hour := webhooks.NewReplay{From: now.Add(-time.Hour), To: now}
	refused(webhook.ErrNotFound, servicetest.NewID(), hour)
	refused(webhook.ErrNotFound, stranger, hour)
	refused(webhook.ErrReplayRange, f.sub, webhooks.NewReplay{From: now, To: now})
	refused(fault.ErrInvalidField, f.sub, webhooks.NewReplay{From: hour.From, To: now, Status: "lost"})
	f.enable(false)
	refused(webhook.ErrDisabled, f.sub, hour)
	_, err := f.Webhooks.ReplayByAdmin(t.Context(), f.sub, hour)
	require.ErrorIs(t, err, webhook.ErrDisabled)
	_, err = f.Webhooks.ReplayByAdmin(t.Context(), servicetest.NewID(), hour)
	require.ErrorIs(t, err, webhook.ErrNotFound)
}

func TestReplayByAdmin_IsTheSame_AndSaysWhoDidIt(t *testing.T) {
	f := newFixture(t)
	failed := f.sent(f.sub, 3, webhook.Failed, time.Minute)
	r, err := f.Webhooks.ReplayByAdmin(t.Context(), f.sub,
		webhooks.NewReplay{From: f.clock.Now().Add(-time.Hour), To: f.clock.Now()})
	require.NoError(t, err)
	require.Equal(t, 3, r.Matched)
	f.steps()
	require.Equal(t, once(failed), f.repeated(f.sub))
	var who string
	require.NoError(t, f.Pool.QueryRow(t.Context(),
		`SELECT actor FROM audit_log WHERE action = 'webhook.replay' AND subject = $1 AND detail ->> 'replayId' = $2`,
		id.Subscription.Of(f.sub), id.Replay.Of(r.ID)).Scan(&who))
	require.Equal(t, "admin", who)
}

func TestReplays_ThatAreOver_AreForgottenInTheEnd(t *testing.T) {
	f := newFixture(t)
	f.replay(f.sub, "")
	f.steps()
	f.replay(f.sub, "")
	forget := func(before time.Time) (n int) {
		f.Write(func(ctx context.Context, r *postgres.Store) (err error) {
			n, err = r.Replays.DeleteFinished(ctx, before, 10)
			return err
		})
		return n
	}
	require.Zero(t, forget(f.clock.Now().Add(-time.Hour)))
	require.Equal(t, 1, forget(f.clock.Now().Add(time.Hour)), "one that is under way stays")
	require.Equal(t, 1, f.open())
}

func TestAudit_TellsWhatThePartnerHadSentAgain(t *testing.T) {
	f := newFixture(t)
	original := f.sent(f.sub, 1, webhook.Failed, time.Minute)[0]
	_, err := f.Webhooks.Redeliver(t.Context(), f.by, f.sub, original)
	require.NoError(t, err)
	f.replay(f.sub, "")
	rows, err := f.Pool.Query(t.Context(),
		`SELECT action FROM audit_log WHERE actor = $1 AND subject = $2 AND detail ->> 'keyId' = $3`,
		"partner:"+id.Partner.Of(f.by.Partner.ID), id.Subscription.Of(f.sub), id.APIKey.Of(f.by.Key.ID))
	require.NoError(t, err)
	defer rows.Close()
	var actions []string
	for rows.Next() {
		var action string
		require.NoError(t, rows.Scan(&action))
		actions = append(actions, action)
	}
	require.NoError(t, rows.Err())
	slices.Sort(actions)
	require.Equal(t, []string{"webhook.redeliver", "webhook.replay"}, actions)
}
