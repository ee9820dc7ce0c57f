package e2e_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/receiver"
)

// TestReplay_AfterAnOutage: failed deliveries are sent again, a single delivery at the partner's request and all of
// them at the operator's, although no dispatcher ran at the time of the request.
func TestReplay_AfterAnOutage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "WEBHOOK_RETRY_SCHEDULE=0s")
	w.http(t)
	d := w.dispatcher(t)
	r := newReceiver(t)
	webhookID := w.subscribe(t, r)
	var up atomic.Bool
	r.AnswerWith(func(int, receiver.Webhook) int {
		if up.Load() {
			return http.StatusOK
		}
		return http.StatusServiceUnavailable
	})
	began := time.Now().Add(-time.Minute)
	for _, externalID := range []string{"villa-31", "villa-32", "villa-33"} {
		w.link(t, externalID)
	}
	require.Eventually(t, func() bool { return len(r.All()) == 3 }, soon, often)
	failed := w.deliveries(t, webhookID)
	require.Len(t, failed, 3)
	for _, one := range failed {
		require.Equal(t, "failed", one.Status)
	}
	d.stop(t)
	up.Store(true)

	var made struct {
		Data struct{ ID, Status, RedeliveryOf string }
	}
	w.api(t).post("/webhooks/"+webhookID+"/deliveries/"+failed[0].ID+"/redeliver", nil, &made)
	require.Equal(t, failed[0].ID, made.Data.RedeliveryOf)
	var replay struct {
		ReplayID string
		Matched  int
	}
	w.admin(t, &replay, "webhook", "replay", "--subscription", webhookID, "--from", began.Format(time.RFC3339), "--to",
		began.Add(time.Hour).Format(time.RFC3339))
	require.Regexp(t, `^rpl_[0-9a-z]{26}$`, replay.ReplayID)
	require.Equal(t, 3, replay.Matched)
	w.followUntilInterrupted(t, replay.ReplayID)

	w.dispatcher(t)
	again := map[string]int{}
	for _, webhook := range r.await(t, 4) {
		again[string(webhook.Body)]++
	}
	require.Len(t, again, 3)
	require.Len(t, w.deliveries(t, webhookID), 7)
	var ended struct {
		Made       int
		FinishedAt *string
	}
	w.admin(t, &ended, "webhook", "progress", "--replay", replay.ReplayID, "--follow")
	require.Equal(t, 3, ended.Made)
	require.NotNil(t, ended.FinishedAt)
	for _, first := range r.All()[:3] {
		require.Positive(t, again[string(first.Body)], "the same bytes")
	}
}

func TestAdmin_ReplayRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	refused := func(want, subscription, to string) {
		t.Helper()
		code, stdout, stderr := run(t, w.environ, "admin", "webhook", "replay", "--json", "--subscription", subscription,
			"--from", "2026-08-01T16:00:00Z", "--to", to)
		require.Equal(t, 1, code, stderr)
		require.Empty(t, stdout)
		require.True(t, strings.HasPrefix(refusal(t, stderr), want), stderr)
	}
	refused("webhook_not_found: ", "pwh_"+strings.Repeat("0", 25)+"1", "2026-08-01T17:00:00Z")
	refused("webhook_not_found: ", "nonsense", "2026-08-01T17:00:00Z")
	w.http(t)
	refused("invalid_date_range: to: ", w.subscribe(t, newReceiver(t)), "2026-08-01T17:00:00+02:00")
}
