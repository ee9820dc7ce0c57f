package webhooks

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	webhookports "partnerdeposits/ports/webhooks"
)

// asked notes the spans with which the jobs of retention call their tables.
type asked struct {
	webhookports.RetentionStore
	webhookports.ReplayStore
	calls map[string][]time.Duration
}

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

func (asked) Now() time.Time { return noon }

func (asked) WithinTx(ctx context.Context, fn func(context.Context) error) error { return fn(ctx) }

func (a asked) note(call string, before ...time.Time) {
	for _, at := range before {
		a.calls[call] = append(a.calls[call], noon.Sub(at))
	}
}

func (a asked) EnsurePartitions(_ context.Context, days int) error {
	a.note("make partitions", noon.AddDate(0, 0, days))
	return nil
}

func (a asked) DropPartitions(_ context.Context, days int) error {
	a.note("drop partitions", noon.AddDate(0, 0, -days))
	return nil
}

func (a asked) DeleteFinished(_ context.Context, at time.Time, _ int) (int, error) {
	a.note("delete replays", at)
	return 0, nil
}

func (a asked) EndParkedDeliveries(_ context.Context, at time.Time, _ int) ([]webhookports.EndedDelivery, error) {
	a.note("end parked deliveries", at)
	return nil, nil
}

func (a asked) DeleteFinishedDeliveries(_ context.Context, at, endedBy time.Time, _ int) (int, error) {
	a.note("delete deliveries", at, endedBy)
	return 0, nil
}

func (asked) ReleaseOrCancelDeliveries(context.Context, int) (int, error) { return 0, nil }

// The spans are a promise (operations.md, "Retention"). Events and attempts are dropped by whole days.
func TestRetention_RemovesNothingEarlierThanPromised(t *testing.T) {
	t.Parallel()
	tables := asked{calls: map[string][]time.Duration{}}
	for _, job := range (RetentionJobs{Tables: tables, Replays: tables, UnitOfWork: tables,
		Clock: tables}).ScheduledJobs() {
		more, err := job.Run(t.Context())
		require.NoError(t, err, job.Name)
		require.False(t, more, job.Name)
	}
	require.Equal(t, map[string][]time.Duration{
		"make partitions": {-14 * day}, "drop partitions": {30 * day}, "delete replays": {30 * day},
		"end parked deliveries": {30 * day}, "delete deliveries": {30 * day, 7 * day},
	}, tables.calls)
}
