package dispatch

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

// failingSender fails each POST in the same way.
type failingSender struct{ with webhook.Attempt }

func (s failingSender) Post(context.Context, *webhookports.Delivery, time.Time) webhook.Attempt {
	return s.with
}

type countedAttempts struct {
	webhookports.DispatchMetrics
	n int
}

func (c *countedAttempts) AddInFlight(string, int) {}
func (c *countedAttempts) CountAttempt(webhook.EventName, webhook.AttemptResult, time.Duration, string) {
	c.n++
}

type fixedClock time.Time

func (c fixedClock) Now() time.Time { return time.Time(c) }

func TestAttempt_ThatFailsByOurDoing_IsPutOff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		failure webhook.Attempt
		broken  bool
		putOff  bool
	}{
		"no descriptor":                    {webhook.Attempt{Lacked: "too many open files"}, false, true},
		"no descriptor, no way out":        {webhook.Attempt{Lacked: "too many open files"}, true, true},
		"no route":                         {webhook.Attempt{NoRoute: true}, false, false},
		"no route, while no way out works": {webhook.Attempt{NoRoute: true}, true, true},
		"refused, while no way out works":  {webhook.Attempt{}, true, false},
	} {
		counted := &countedAttempts{}
		c.failure.Result = webhook.ResultConnectFailed
		d := New(Deps{Sender: failingSender{c.failure}, Clock: fixedClock(noon), Metrics: counted,
			Random: func() float64 { return 0.5 },
			Log:    slog.New(slog.DiscardHandler)},
			Config{Schedule: webhook.RetrySchedule{0, time.Hour, time.Hour, time.Hour, time.Hour}, Timeout: time.Second})
		d.outbound.broken.Store(c.broken)
		// Two attempts, and two dispatches since without one.
		claim := webhookports.Claim{Seq: 5}
		o, made := d.attempt(t.Context(), claim, &webhookports.Delivery{Claim: claim, Found: true, Current: true,
			Enabled: true, LeaseLeft: time.Minute, ReadAt: noon, Attempts: 2}, true)
		require.True(t, made, name)
		require.Equal(t, !c.putOff, o.Attempt.WasMade(), name)
		if c.putOff {
			require.Equal(t, webhook.DeliveryVerdict{State: webhook.DeliveryStateWaiting, Wait: 4 * time.Second}, o.Verdict,
				name)
			require.Equal(t, 2, o.Attempt.Number, name)
			require.Zero(t, counted.n, name)
		} else {
			require.Equal(t, time.Hour, o.Verdict.Wait, name)
			require.Equal(t, 3, o.Attempt.Number, name)
			require.Equal(t, 1, counted.n, name)
		}
	}
}
