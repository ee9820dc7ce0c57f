//go:build !unit

package dispatch_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/webhooks/dispatch"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// unheardOf is a name that the table outbox takes and the table events refuses.
const unheardOf = webhook.EventName("deposit.unheard_of")

// lines collects a log.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// setAside lists the events that no relay can file.
func (f *fixture) setAside() (ids []id.ID) {
	rows, err := f.Pool.Query(f.t.Context(), `SELECT event_id FROM outbox_set_aside ORDER BY event_id`)
	require.NoError(f.t, err)
	defer rows.Close()
	for rows.Next() {
		var each id.ID
		require.NoError(f.t, rows.Scan(&each))
		ids = append(ids, each)
	}
	require.NoError(f.t, rows.Err())
	return ids
}

// An outbox row that cannot be filed is set aside and named in the log, and every other event of its group is
// delivered, each exactly once and oldest first.
func TestRelay_EventThatCannotBeFiled_StopsNoOther(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, nil)
	f.subscribe(r.URL)
	var log lines
	before := f.emit(webhook.DepositCancelled, 20)
	bad := f.emit(unheardOf, 1)
	between := f.emit(webhook.DepositActivated, 13)
	bad = append(bad, f.emit(unheardOf, 1)...)
	f.emit(webhook.DepositExpired, 7)
	f.run(func(d *dispatch.Deps, c *dispatch.Config) {
		d.Log, c.RelayEvery = slog.New(slog.NewTextHandler(&log, nil)), 20*time.Millisecond
	})
	f.allIn(webhook.Succeeded, 40)
	require.Equal(t, bad, f.setAside())
	require.Len(t, r.all(), 40, "no delivery is sent twice")
	for _, each := range bad {
		require.Contains(t, log.String(), id.Event.Of(each))
	}
	for _, each := range append(before, between...) {
		require.NotContains(t, log.String(), id.Event.Of(each))
	}
	var pending int
	require.NoError(t, f.Pool.QueryRow(t.Context(), `SELECT count(*) FROM outbox`).Scan(&pending))
	require.Zero(t, pending)
}

// A panic of the dispatch rule concerns the event that caused it.
func TestRelay_EventWhosePlanPanics_StopsNoOther(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, nil)
	f.subscribe(r.URL)
	good := f.emit(webhook.DepositCancelled, 5)
	bad := f.emit(webhook.DepositActivated, 1)
	f.emit(webhook.DepositExpired, 5)
	f.run(func(d *dispatch.Deps, _ *dispatch.Config) { d.Relay = panicking{d.Relay, bad[0]} })
	f.allIn(webhook.Succeeded, 10)
	require.Equal(t, bad, f.setAside())
	require.NotContains(t, bad, good[0])
}

// panicking is a relay whose plan panics for an event.
type panicking struct {
	webhookports.RelayStore
	event id.ID
}

func (p panicking) Relay(ctx context.Context, limit int, lease time.Duration,
	plan webhookports.Plan, ahead func([]webhookports.Claim)) (int, []webhookports.Claim, error) {
	return p.RelayStore.Relay(ctx, limit, lease,
		func(events []ports.Event, subscriptions []webhookports.Subscription) []webhookports.Delivery {
			for _, e := range events {
				if e.ID == p.event {
					panic("no such rule")
				}
			}
			return plan(events, subscriptions)
		}, ahead)
}

// A refusal that blames no row, such as a missing right, sets no event aside: the events wait until the relay works
// again.
func TestRelay_RefusalThatBlamesNoRow_SetsNothingAside(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, nil)
	f.subscribe(r.URL)
	var log lines
	_, err := f.Pool.Exec(t.Context(), `ALTER TABLE events RENAME TO events_away`)
	require.NoError(t, err)
	f.emit(webhook.DepositCancelled, 3)
	f.run(func(d *dispatch.Deps, _ *dispatch.Config) { d.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	f.eventually("the relay complains", func() bool { return strings.Contains(log.String(), "cannot relay the outbox") })
	_, err = f.Pool.Exec(t.Context(), `ALTER TABLE events_away RENAME TO events`)
	require.NoError(t, err)
	f.allIn(webhook.Succeeded, 3)
	require.Empty(t, f.setAside())
}
