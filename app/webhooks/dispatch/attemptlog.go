package dispatch

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// loggedPerSecond bounds the log lines of a process about failed attempts, and those about successful attempts,
// in a second, so that they cannot fill the disk. svc_webhook_attempts_total counts every attempt.
const loggedPerSecond = 50

// attemptLog writes a log line for each attempt to send a delivery: failures at level info, successes at level
// debug.
type attemptLog struct {
	log                 *slog.Logger
	failures, successes perSecond
}

// made logs an attempt to send a delivery, with its consequence.
func (l *attemptLog) made(ctx context.Context, o webhookports.AttemptOutcome, now time.Time) {
	level, lines := slog.LevelInfo, &l.failures
	if o.Attempt.OK() {
		level, lines = slog.LevelDebug, &l.successes
	}
	if !l.log.Enabled(ctx, level) {
		return
	}
	leftOut, ok := lines.take(now)
	if !ok {
		return
	}
	attrs := []slog.Attr{
		slog.String("delivery", id.Delivery.Of(o.Delivery.DeliveryID)),
		slog.String("event", id.Event.Of(o.Delivery.EventID)),
		slog.String("name", string(o.Delivery.Event)),
		slog.String("subscription", id.Subscription.Of(o.Delivery.SubscriptionID)),
		slog.Int("attempt", o.Attempt.Number),
		slog.String("result", string(o.Attempt.Result)),
		// The HTTP status of the endpoint's response; 0: there was no response.
		slog.Int("status", o.Attempt.ResponseStatus),
		slog.Int64("milliseconds", o.Attempt.Duration.Milliseconds()),
		// The wait until the next attempt to send the delivery; 0s: there is none.
		slog.String("wait", o.Verdict.Wait.Round(time.Millisecond).String()),
	}
	if o.Delivery.RequestID != "" {
		attrs = append(attrs, slog.String("request_id", o.Delivery.RequestID))
	}
	if parent := o.Delivery.TraceParent; parent != "" {
		attrs = append(attrs, slog.String("trace_id", ports.TraceIDOf(parent)))
	}
	if leftOut > 0 {
		attrs = append(attrs, slog.Int("left_out", leftOut))
	}
	l.log.LogAttrs(ctx, level, "delivery attempted", attrs...)
}

type perSecond struct {
	mu            sync.Mutex
	second        int64
	used, leftOut int
}

// take reports whether a log line may be written, and how many lines were refused since the last.
func (p *perSecond) take(now time.Time) (leftOut int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if second := now.Unix(); second != p.second {
		p.second, p.used = second, 0
	}
	if p.used == loggedPerSecond {
		p.leftOut++
		return 0, false
	}
	p.used++
	leftOut, p.leftOut = p.leftOut, 0
	return leftOut, true
}
