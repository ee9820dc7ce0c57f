//go:build !unit

package webhooks_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/app/webhooks"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/servicetest"
)

// replay starts a replay of the deliveries of the last hour.
func (f *fixture) replay(sub id.ID, status webhook.DeliveryStatus) webhook.Replay {
	f.t.Helper()
	r, err := f.Webhooks.StartReplay(f.t.Context(), f.by, sub,
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

// dispatchers makes all due steps from several dispatchers at once.
func (f *fixture) dispatchers(n int) {
	f.t.Helper()
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for advanced := true; advanced; {
				var err error
				if advanced, err = f.Webhooks.AdvanceReplay(f.t.Context()); err != nil {
					f.t.Errorf("a step failed: %v", err)
				}
			}
		})
	}
	all.Wait()
}

// open counts the unfinished replays.
func (f *fixture) open() int { return f.Count("webhook_replays", "finished_at IS NULL") }

func TestReplay_MatchesTheOriginalsOfItsSpanThatStandAtItsStatus(t *testing.T) {
	f := newFixture(t)
	f.sent(f.sub, 2, webhook.DeliveryStateFailed, 2*time.Hour)
	failed := f.sent(f.sub, 3, webhook.DeliveryStateFailed, 30*time.Minute)
	f.sent(f.sub, 4, webhook.DeliveryStateSucceeded, 20*time.Minute)
	f.sent(f.sub, 5, webhook.DeliveryStateWaiting, 10*time.Minute)
	f.sent(f.subscribe(f.by), 7, webhook.DeliveryStateFailed, 30*time.Minute)
	_, err := f.Webhooks.Redeliver(t.Context(), f.by, f.sub, failed[0])
	require.NoError(t, err)
	f.RunInTransaction(func(ctx context.Context, r *postgres.Store) error {
		return r.Deliveries.InsertTest(ctx, webhook.Delivery{ID: servicetest.NewID(), SubscriptionID: f.sub,
			EventID: servicetest.NewID(), Event: webhook.EventDepositActivated, Body: []byte(`{}`)})
	})

	asked := func(from, to time.Duration, status webhook.DeliveryStatus) webhook.Replay {
		t.Helper()
		r, err := f.Webhooks.StartReplay(t.Context(), f.by, f.sub,
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

	r, err := f.Webhooks.StartReplay(t.Context(), f.by, f.sub, webhooks.NewReplay{From: failed[0].Time(),
		To: failed[2].Time()})
	require.NoError(t, err)
	require.Equal(t, 2, r.Matched, "from is included, to is not")
}

func TestReplay_WhatChangedItsStatusMeanwhile_IsPassedOver(t *testing.T) {
	f := newFixture(t)
	waiting := f.sent(f.sub, 60, webhook.DeliveryStateWaiting, time.Minute)
	require.Equal(t, 60, f.replay(f.sub, webhook.StatusPending).Matched)
	f.steps()
	f.answered()
	_, err := f.Pool.Exec(t.Context(),
		`UPDATE deliveries SET state = 2, due_at = NULL, finished_at = now(), taken_at = now() WHERE id = $1`, waiting[55])
	require.NoError(t, err)
	f.clock.Add(time.Second)
	f.steps()
	require.Equal(t, once(waiting[:55], waiting[56:]), f.repeated(f.sub))
}

func TestReplay_OfADeletedSubscription_Ends(t *testing.T) {
	f := newFixture(t)
	f.sent(f.sub, 60, webhook.DeliveryStateFailed, time.Minute)
	f.replay(f.sub, "")
	require.Equal(t, 1, f.steps())
	require.NoError(t, f.Webhooks.Delete(t.Context(), f.by, f.sub))
	f.clock.Add(time.Minute)
	f.steps()
	require.Zero(t, f.open())
	require.Len(t, f.repeated(f.sub), 50)
}

func TestReplayByAdmin_OfADisabledOrUnknownSubscription_IsRefused(t *testing.T) {
	f := newFixture(t)
	f.enable(false)
	for sub, want := range map[id.ID]error{f.sub: webhook.ErrDisabled, servicetest.NewID(): webhook.ErrNotFound} {
		_, err := f.Webhooks.StartReplayByAdmin(t.Context(), sub,
			webhooks.NewReplay{From: f.clock.Now().Add(-time.Hour), To: f.clock.Now()})
		require.ErrorIs(t, err, want)
	}
}

func TestReplayByAdmin_IsTheSame_AndTheAuditLogTellsWhoHadWhatSentAgain(t *testing.T) {
	f := newFixture(t)
	failed := f.sent(f.sub, 3, webhook.DeliveryStateFailed, time.Minute)
	r, err := f.Webhooks.StartReplayByAdmin(t.Context(), f.sub,
		webhooks.NewReplay{From: f.clock.Now().Add(-time.Hour), To: f.clock.Now()})
	require.NoError(t, err)
	require.Equal(t, 3, r.Matched)
	f.steps()
	require.Equal(t, once(failed), f.repeated(f.sub))
	_, err = f.Webhooks.Redeliver(t.Context(), f.by, f.sub, failed[0])
	require.NoError(t, err)
	own := f.replay(f.sub, "")
	about, by := id.Subscription.Of(f.sub), "partner:"+id.Partner.Of(f.by.Partner.ID)
	const replays = "action = 'webhook.replay' AND subject = $1 AND actor = $2 AND detail ->> 'replayId' = $3"
	require.Equal(t, 1, f.Count("audit_log", replays, about, "admin", id.Replay.Of(r.ID)))
	require.Equal(t, 1, f.Count("audit_log", replays, about, by, id.Replay.Of(own.ID)))
	require.Equal(t, 2, f.Count("audit_log", `action IN ('webhook.redeliver', 'webhook.replay') AND subject = $1
		AND actor = $2 AND detail ->> 'keyId' = $3`, about, by, id.APIKey.Of(f.by.Key.ID)))
}
