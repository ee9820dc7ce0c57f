//go:build !unit

package dispatch_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/webhooks/dispatch"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
)

func (f *fixture) report(sub id.ID) webhook.Report {
	f.t.Helper()
	got, err := f.Postgres.Subscriptions.Reports(context.WithoutCancel(f.t.Context()), []webhook.Subscription{{ID: sub}})
	require.NoError(f.t, err)
	return got[0].Health
}

func (f *fixture) becomes(sub id.ID, want webhook.EndpointState) (r webhook.Report) {
	f.t.Helper()
	f.eventually("the endpoint is "+string(want), func() bool {
		r = f.report(sub)
		return r.State == want
	})
	return r
}

// reached counts the successes of healthy endpoints.
type reached struct {
	noMetrics
	n, starts atomic.Int32
	longest   atomic.Int64
}

func (r *reached) Started(delay time.Duration, _ string) {
	r.starts.Add(1)
	r.longest.Store(max(r.longest.Load(), int64(delay)))
}

func (r *reached) ReachedHealthy(latency time.Duration, _ string) {
	if latency > 0 {
		r.n.Add(1)
	}
}

// A receiver takes, refuses and takes deliveries again; the report follows.
func TestHealth_OfAScriptedReceiver_IsReported(t *testing.T) {
	f := newFixture(t)
	var status atomic.Int32
	status.Store(http.StatusOK)
	r := newReceiver(t, func(received, int) int { return int(status.Load()) })
	sub := f.subscribe(r.URL)
	fresh := f.report(sub)
	require.Equal(t, []any{webhook.EndpointHealthy, 0, true, true},
		[]any{fresh.State, fresh.Pending, fresh.LastSuccessAt.IsZero(), fresh.LastFailureAt.IsZero()})
	f.run(func(_ *dispatch.Deps, c *dispatch.Config) {
		c.Schedule = webhook.Schedule{0, 200 * time.Millisecond, 200 * time.Millisecond, 200 * time.Millisecond,
			200 * time.Millisecond, time.Hour}
	})
	began := time.Now()
	f.emit(webhook.DepositActivated, 1)
	f.allIn(webhook.Succeeded, 1)
	took := f.report(sub)
	require.Equal(t, []any{webhook.EndpointHealthy, 0}, []any{took.State, took.Pending})
	require.WithinRange(t, took.LastSuccessAt, began.Add(-time.Second), time.Now().Add(time.Second))
	require.True(t, fresh.Since.Equal(took.Since), "the state goes on")

	status.Store(http.StatusInternalServerError)
	event := f.emit(webhook.DepositActivated, 1)[0]
	failing := f.becomes(sub, webhook.EndpointFailing)
	require.Equal(t, []any{webhook.ResultNon2xx, 1}, []any{failing.LastError, failing.Pending})
	require.True(t, event.Time().Equal(failing.OldestPendingAt), "%v", failing.OldestPendingAt)
	require.WithinRange(t, failing.Since, took.LastSuccessAt, time.Now().Add(time.Second))
	require.False(t, failing.LastFailureAt.Before(took.LastSuccessAt))

	status.Store(http.StatusOK)
	f.allIn(webhook.Succeeded, 2)
	back := f.report(sub)
	require.Equal(t, []any{webhook.EndpointHealthy, webhook.ResultNon2xx, 0},
		[]any{back.State, back.LastError, back.Pending})
	require.True(t, back.LastSuccessAt.After(back.LastFailureAt), "a success after a failure is noted at once")
	require.True(t, back.Since.After(failing.Since))

	status.Store(http.StatusInternalServerError)
	_, err := f.Pool.Exec(t.Context(),
		`UPDATE webhook_subscriptions SET failures = 30, failing_since = now() - interval '1 hour', holds = 2 WHERE id = $1`,
		sub)
	require.NoError(t, err)
	f.emit(webhook.DepositActivated, 5)
	held := f.becomes(sub, webhook.EndpointHeld)
	require.True(t, held.Since.After(back.Since))
	require.NotZero(t, held.Pending)
	status.Store(http.StatusOK)
	f.emit(webhook.DepositActivated, 40)
	require.Zero(t, func() int { f.allIn(webhook.Succeeded, 47); return f.report(sub).Pending }())
	recovered := f.becomes(sub, webhook.EndpointHealthy)
	require.True(t, recovered.Since.After(held.Since))
}
