//go:build !unit

package dispatch_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/webhooks/dispatch"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
)

// attempted gives the lines about attempts in a log of JSON lines.
func attempted(t *testing.T, log string) (found []map[string]any) {
	t.Helper()
	for line := range strings.Lines(log) {
		var each map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &each))
		if each["msg"] == "delivery attempted" {
			found = append(found, each)
		}
	}
	return found
}

// jsonLog logs everything to the lines.
func jsonLog(to *lines, level slog.Level) func(*dispatch.Deps, *dispatch.Config) {
	return func(d *dispatch.Deps, _ *dispatch.Config) {
		d.Log = slog.New(slog.NewJSONHandler(to, &slog.HandlerOptions{Level: level}))
	}
}

func TestAttempt_IsLoggedInALine_AFailureAtInfoAndASuccessAtDebug(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, func(_ received, earlier int) int {
		if earlier == 0 {
			return http.StatusBadGateway
		}
		return http.StatusNoContent
	})
	sub := f.subscribe(r.URL)
	var log lines
	event := f.emit(webhook.DepositCancelled, 1)[0]
	stop := f.run(jsonLog(&log, slog.LevelDebug), func(_ *dispatch.Deps, c *dispatch.Config) {
		c.Schedule = webhook.Schedule{0, 100 * time.Millisecond}
	})
	f.allIn(webhook.Succeeded, 1)
	stop()
	got := attempted(t, log.String())
	require.Len(t, got, 2)
	delivery := id.Delivery.Of(webhook.OriginalID(event, sub))
	for i, want := range []map[string]any{
		{"level": "INFO", "attempt": 1.0, "result": "non_2xx", "status": 502.0},
		{"level": "DEBUG", "attempt": 2.0, "result": "success", "status": 204.0, "wait": "0s"},
	} {
		want["delivery"], want["event"], want["subscription"], want["name"] = delivery, id.Event.Of(event),
			id.Subscription.Of(sub), "deposit.cancelled"
		for key, value := range want {
			require.Equal(t, value, got[i][key], "%d: %s", i, key)
		}
		require.GreaterOrEqual(t, got[i]["milliseconds"], 0.0)
	}
	wait, err := time.ParseDuration(got[0]["wait"].(string))
	require.NoError(t, err)
	require.InDelta(t, 100, wait.Milliseconds(), 11)
}
