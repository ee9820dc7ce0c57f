// Package outage keeps a failure that repeats itself from flooding the log. A Log writes lines about the outages
// of a single subject, such as a database: when an outage begins, every half minute while it lasts, and when it
// is over.
package outage

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

const (
	remindEvery = 30 * time.Second
	// calm is how long ago the last failure must be for a success to end an outage, since during an outage some
	// calls may succeed.
	calm = 3 * time.Second
	// forgotten is the time after the last failure from which a further failure begins a new outage.
	forgotten = 2 * remindEvery
)

// Log logs the outages of a subject. Its methods are safe for concurrent use.
type Log struct {
	log     *slog.Logger
	failing atomic.Bool

	mu                sync.Mutex
	begin, told, last time.Time
	// The number of failures since the outage began, and of those since the last warning about it.
	failures, untold int
	message          string
}

// New returns a Log that writes to log.
func New(log *slog.Logger) *Log { return &Log{log: log} }

func now() time.Time { return time.Now() } //nolint:forbidigo // the time of log lines, which slog reads itself as well

// RecordFailure counts a failure. The first of an outage is logged as a warning with its message and arguments; so
// is a failure every half minute, as "still: " and the message.
func (l *Log) RecordFailure(ctx context.Context, message string, args ...any) {
	at := now()
	l.mu.Lock()
	if l.failures == 0 || at.Sub(l.last) > forgotten {
		l.begin, l.told, l.failures, l.untold, l.message = at, time.Time{}, 0, 0, message
	}
	l.failing.Store(true)
	l.last = at
	l.failures++
	l.untold++
	first, due := l.failures == 1, at.Sub(l.told) >= remindEvery
	begin, failures := l.begin, l.untold
	if due {
		l.told, l.untold = at, 0
	}
	l.mu.Unlock()
	switch {
	case first:
		l.log.WarnContext(ctx, message, args...)
	case due:
		l.log.WarnContext(ctx, "still: "+message, append(args, "since", begin.UTC(), "failures", failures)...)
	default:
		l.log.DebugContext(ctx, message, args...)
	}
}

// RecordSuccess counts a success. It ends an outage whose last failure is some seconds old, and logs "over: " and
// the message of the first failure.
func (l *Log) RecordSuccess(ctx context.Context) { l.end(ctx, "", calm) }

// EndOutage ends an outage at once, and logs a message of its own. Without an outage Over does nothing.
func (l *Log) EndOutage(ctx context.Context, message string) { l.end(ctx, message, 0) }

func (l *Log) end(ctx context.Context, message string, after time.Duration) {
	if !l.failing.Load() {
		return
	}
	at := now()
	l.mu.Lock()
	if l.failures == 0 || at.Sub(l.last) < after {
		l.mu.Unlock()
		return
	}
	if message == "" {
		message = "over: " + l.message
	}
	lasted, failures := at.Sub(l.begin), l.failures
	l.failures = 0
	l.failing.Store(false)
	l.mu.Unlock()
	l.log.InfoContext(ctx, message, "lasted_seconds", lasted.Seconds(), "failures", failures)
}
