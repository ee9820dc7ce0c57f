package dispatch

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

func TestPerSecond_LinesBeyondTheBound_AreCountedInTheNextLine(t *testing.T) {
	t.Parallel()
	var lines perSecond
	now := time.Unix(1_790_000_000, 0)
	for range loggedPerSecond {
		leftOut, ok := lines.take(now)
		require.True(t, ok)
		require.Zero(t, leftOut)
	}
	for range 7 {
		_, ok := lines.take(now.Add(time.Second - 1))
		require.False(t, ok)
	}
	leftOut, ok := lines.take(now.Add(time.Second))
	require.True(t, ok)
	require.Equal(t, 7, leftOut)
	leftOut, ok = lines.take(now.Add(time.Second))
	require.True(t, ok)
	require.Zero(t, leftOut, "counted once")
}

func TestAttemptLog_ALineForEachAttempt_WithItsConsequence(t *testing.T) {
	t.Parallel()
	made := func(level slog.Level, outcomes ...webhookports.AttemptOutcome) string {
		var text strings.Builder
		attempts := attemptLog{log: slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{
			Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey {
					return slog.Attr{}
				}
				return a
			},
		}))}
		for _, o := range outcomes {
			attempts.made(t.Context(), o, noon)
		}
		return text.String()
	}
	delivery := &webhookports.Delivery{
		Claim:   webhookports.Claim{DeliveryID: id.ID{1}, SubscriptionID: id.ID{2}},
		EventID: id.ID{3}, Event: webhook.EventDepositCaptured,
	}
	traced := *delivery
	traced.TraceParent, traced.RequestID = "00-4bf9-00f0-01", "req_1"
	failure := webhookports.AttemptOutcome{
		Delivery: &traced,
		Attempt: webhook.Attempt{
			Number: 2, Result: webhook.ResultNon2xx, ResponseStatus: 502, Duration: 1500 * time.Millisecond,
		},
		Verdict: webhook.DeliveryVerdict{State: webhook.DeliveryStateWaiting, Wait: 30*time.Second + 1},
	}
	success := webhookports.AttemptOutcome{
		Delivery: delivery, Attempt: webhook.Attempt{Number: 1, Result: webhook.ResultSuccess, ResponseStatus: 204},
		Verdict: webhook.DeliveryVerdict{State: webhook.DeliveryStateSucceeded},
	}
	about := ` msg="delivery attempted" delivery=` + id.Delivery.Of(id.ID{1}) + ` event=` + id.Event.Of(id.ID{3}) +
		` name=deposit.captured subscription=` + id.Subscription.Of(id.ID{2})
	failed := `level=INFO` + about +
		" attempt=2 result=non_2xx status=502 milliseconds=1500 wait=30s request_id=req_1 trace_id=4bf9\n"
	succeeded := `level=DEBUG` + about + " attempt=1 result=success status=204 milliseconds=0 wait=0s\n"
	require.Equal(t, failed+succeeded, made(slog.LevelDebug, failure, success))
	require.Equal(t, failed, made(slog.LevelInfo, failure, success))
	require.Empty(t, made(slog.LevelWarn, failure, success))

	flood := slices.Repeat([]webhookports.AttemptOutcome{failure}, loggedPerSecond+3)
	lines := strings.Count(made(slog.LevelDebug, append(flood, success)...), "\n")
	require.Equal(t, loggedPerSecond+1, lines, "a flood of failures hides no success")
}

func TestAttemptLog_AfterAFlood_SaysHowManyLinesWereLeftOut(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	attempts := attemptLog{log: slog.New(slog.NewTextHandler(&text, nil))}
	failure := webhookports.AttemptOutcome{Delivery: &webhookports.Delivery{},
		Attempt: webhook.Attempt{Result: webhook.ResultTimeout}}
	for range loggedPerSecond + 3 {
		attempts.made(t.Context(), failure, noon)
	}
	require.NotContains(t, text.String(), "left_out")
	attempts.made(t.Context(), failure, noon.Add(time.Second))
	require.Contains(t, text.String(), "left_out=3\n")
}
