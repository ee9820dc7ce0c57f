//go:build !unit

package webhooks_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/webhooks"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
)

// hour is a replay of the succeeded deliveries of the last hour.
func (f *fixture) hour() webhooks.NewReplay {
	return webhooks.NewReplay{From: f.clock.Now().Add(-time.Hour), To: f.clock.Now(), Status: webhook.StatusSucceeded}
}

func (f *fixture) byStaff(sub id.ID) {
	f.t.Helper()
	_, err := f.Webhooks.StartReplayByAdmin(f.t.Context(), sub, f.hour())
	require.NoError(f.t, err)
}

// All replays of a partner together make no more than 50 redeliveries a second, and one step at the beginning and one
// that was late.
func TestReplays_OfAPartner_TogetherKeepItsPace(t *testing.T) {
	replays := func(each int) func(*fixture, []id.ID) {
		return func(f *fixture, subs []id.ID) {
			for _, sub := range subs {
				for range each {
					f.replay(sub, webhook.StatusSucceeded)
				}
			}
		}
	}
	for name, c := range map[string]struct {
		subs   int // further subscriptions
		sent   int // deliveries of each subscription, which each replay repeats
		begin  func(f *fixture, subs []id.ID)
		ticks  func(f *fixture, subs []id.ID, tick int)
		wanted int // redeliveries in the end
	}{
		"eight small ones":          {sent: 40, begin: replays(8), wanted: 320},
		"of a single delivery each": {sent: 1, begin: replays(8), wanted: 8},
		"a step and a bit each":     {sent: 55, begin: replays(5), wanted: 275},
		"of sixteen subscriptions":  {subs: 15, sent: 12, begin: replays(2), wanted: 384},
		"of staff": {subs: 1, sent: 15, begin: func(f *fixture, subs []id.ID) {
			for range 10 {
				f.byStaff(subs[0])
				f.byStaff(subs[1])
			}
		}, wanted: 300},
		"a new one whenever one has ended": {subs: 2, sent: 15, ticks: func(f *fixture, subs []id.ID, tick int) {
			if tick < 60 && f.open() == 0 {
				replays(1)(f, subs)
			}
		}, wanted: 315},
		"after a pause": {sent: 40, begin: func(f *fixture, subs []id.ID) {
			replays(5)(f, subs)
			f.enable(false)
			f.clock.Add(time.Hour)
			f.enable(true)
		}, wanted: 200},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			subs := []id.ID{f.sub}
			for range c.subs {
				subs = append(subs, f.subscribe(f.by))
			}
			for _, sub := range subs {
				f.sent(sub, c.sent, webhook.DeliveryStateSucceeded, time.Minute)
			}
			if c.begin != nil {
				c.begin(f, subs)
			}
			made := 0
			for tick := range 100 { // ten seconds
				if c.ticks != nil {
					c.ticks(f, subs, tick)
				}
				f.dispatchers(3)
				f.answered()
				made = f.Count("deliveries", "redelivery_of IS NOT NULL")
				require.LessOrEqual(t, made, 50*tick/10+2*webhook.ReplayRedeliveriesPerSecond, "after %d tenths of a second", tick)
				f.clock.Add(100 * time.Millisecond)
			}
			require.Equal(t, c.wanted, made)
			require.Zero(t, f.open())
		})
	}
}

func TestReplays_TheNextBeginsOnceThePaceOfTheLastAllowsIt(t *testing.T) {
	f := newFixture(t)
	f.sent(f.sub, 40, webhook.DeliveryStateSucceeded, time.Minute)
	other := f.subscribe(f.caller("other"))
	f.sent(other, 40, webhook.DeliveryStateSucceeded, time.Minute)
	for range 2 {
		f.replay(f.sub, webhook.StatusSucceeded)
	}
	f.byStaff(other)
	require.Equal(t, 2, f.steps(), "one of each partner")
	f.answered()
	f.replay(f.sub, webhook.StatusFailed) // nothing to send
	f.clock.Add(800*time.Millisecond - time.Microsecond)
	require.Zero(t, f.steps())
	f.clock.Add(time.Microsecond)
	require.Equal(t, 1, f.steps())
	f.answered()
	f.clock.Add(800 * time.Millisecond)
	f.replay(f.sub, webhook.StatusSucceeded)
	require.Equal(t, 2, f.steps(), "one that sends nothing takes no time")
}

// A replay stops while its redeliveries wait for a slow endpoint. Otherwise they would gather, and all be sent at once
// when the endpoint is quick again.
func TestReplays_WhileAStepOfRedeliveriesWaits_MakeNoMore(t *testing.T) {
	f := newFixture(t)
	originals := f.sent(f.sub, 130, webhook.DeliveryStateSucceeded, time.Minute)
	other := f.subscribe(f.by)
	theirs := f.sent(other, 60, webhook.DeliveryStateSucceeded, time.Minute)
	made := func(sub id.ID) int { return len(f.repeated(sub)) }
	f.replay(f.sub, webhook.StatusSucceeded)
	f.byStaff(f.sub)
	for range 10 {
		f.steps()
		f.clock.Add(time.Second)
	}
	require.Equal(t, 50, made(f.sub))
	f.replay(other, webhook.StatusSucceeded)
	f.steps()
	require.Equal(t, 50, made(other), "another subscription does not wait for that")

	// A redelivery that was claimed for its first POST still counts as waiting. One that waits for a retry does not.
	state := func(state, attempts int) {
		t.Helper()
		_, err := f.Pool.Exec(t.Context(), `UPDATE deliveries SET state = $2, attempts = $3, seq = 1,
			due_at = now() + interval '1 hour' WHERE id = (SELECT min(id::text)::uuid FROM deliveries WHERE subscription_id = $1
			AND redelivery_of IS NOT NULL)`, f.sub, state, attempts)
		require.NoError(t, err)
	}
	state(1, 0)
	f.clock.Add(time.Second)
	f.steps()
	require.Equal(t, 50, made(f.sub))
	state(0, 1)
	f.clock.Add(time.Second)
	f.steps()
	require.Equal(t, 100, made(f.sub))

	for range 10 {
		f.answered()
		f.clock.Add(time.Second)
		f.steps()
	}
	require.Equal(t, once(theirs), f.repeated(other))
	require.Equal(t, 260, f.Count("deliveries", "redelivery_of IS NOT NULL AND subscription_id <> '"+other.String()+"'"))
	require.Len(t, f.repeated(f.sub), len(originals))
	require.Zero(t, f.open())
}

func TestReplay_OneTooMany_IsRefusedBeforeItIsCounted(t *testing.T) {
	f := newFixture(t)
	f.sent(f.sub, 1, webhook.DeliveryStateSucceeded, time.Minute)
	ask := func(sub id.ID) error {
		_, err := f.Webhooks.StartReplay(t.Context(), f.by, sub, f.hour())
		return err
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	refused := 0
	for range 20 { // at once
		all.Go(func() {
			if err := ask(f.sub); err != nil {
				mu.Lock()
				defer mu.Unlock()
				refused++
				if fault.FromError(err).Code != "replay_limit_reached" || fault.KindOf(err) != fault.Conflict {
					t.Errorf("refused with %v", err)
				}
			}
		})
	}
	all.Wait()
	require.Equal(t, 12, refused)
	require.Equal(t, 8, f.open())
	require.Equal(t, 8, f.Count("audit_log", "action = 'webhook.replay'"))
	require.NoError(t, ask(f.subscribe(f.by)), "of another subscription")
	f.byStaff(f.sub)
	require.Equal(t, 1, f.steps(), "of both subscriptions")
	require.Equal(t, 9, f.open(), "7 of the partner, that of staff, and that of the other subscription")
	require.Error(t, ask(f.sub))
	f.clock.Add(time.Second)
	require.Equal(t, 9, f.steps(), "a delivery each, and none")
	for range 8 {
		require.NoError(t, ask(f.sub), "the others have ended")
	}
	f.enable(false)
	require.Equal(t, "webhook_disabled", fault.FromError(ask(f.sub)).Code)

	// A replay beyond the limit is refused before its deliveries are counted: a lock on their table does not delay it.
	f.enable(true)
	blocked, err := f.Pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = blocked.Rollback(t.Context()) }()
	_, err = blocked.Exec(t.Context(), `LOCK TABLE deliveries IN ACCESS EXCLUSIVE MODE`)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err = f.Webhooks.StartReplay(ctx, f.by, f.sub, f.hour())
	require.Equal(t, "replay_limit_reached", fault.FromError(err).Code)
}

// A span with few matches among very many deliveries is read piece by piece.
func TestReplay_OfAVastSpan_ReadsABoundedPart(t *testing.T) {
	f := newFixture(t)
	f.sent(f.sub, 25_000, webhook.DeliveryStateSucceeded, 10*time.Minute)
	few := f.sent(f.sub, 3, webhook.DeliveryStateWaiting, time.Minute)
	require.Equal(t, 10_000, f.replay(f.sub, webhook.StatusSucceeded).Matched)
	_, err := f.Pool.Exec(t.Context(), `DELETE FROM webhook_replays`)
	require.NoError(t, err)
	require.Zero(t, f.replay(f.sub, webhook.StatusPending).Matched, "none among the oldest 10,000")
	for range 2 {
		require.Equal(t, 1, f.steps())
		require.Empty(t, f.repeated(f.sub))
		require.Equal(t, 1, f.open())
		f.clock.Add(time.Second)
	}
	require.Equal(t, 1, f.steps())
	require.Equal(t, once(few), f.repeated(f.sub))
	require.Zero(t, f.open())
	failed := f.sent(f.sub, 3, webhook.DeliveryStateFailed, time.Second)
	require.Equal(t, 3, f.replay(f.sub, "").Matched, "failed deliveries have an index of their own")
	f.clock.Add(time.Second)
	f.steps()
	require.Equal(t, once(few, failed), f.repeated(f.sub))
}
