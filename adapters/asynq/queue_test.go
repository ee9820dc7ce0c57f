package asynq_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/asynq"
	"partnerdeposits/adapters/redis/redistest"
	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

func TestMain(m *testing.M) { redistest.Main(m) }

func newQueue(t *testing.T) *asynq.Queue {
	t.Parallel()
	return asynq.New(redistest.New(t), slog.New(slog.DiscardHandler))
}

func job(lane ports.Lane, n byte) ports.Job {
	return ports.Job{Lane: lane, Claims: []ports.Claim{{DeliveryID: id.ID{n}, SubscriptionID: id.ID{9}, Seq: 1}}}
}

func TestQueue_EachLane_HandlesItsJobs(t *testing.T) {
	q := newQueue(t)
	ctx, stop := context.WithCancel(t.Context())
	got := make(chan ports.Job, 8)
	done := make(chan error, 1)
	go func() {
		done <- q.Serve(ctx, map[ports.Lane]int{ports.FastLane: 2, ports.SlowLane: 1}, func(_ context.Context, j ports.Job) { got <- j })
	}()
	want := []ports.Job{job(ports.FastLane, 1), job(ports.SlowLane, 2), job(ports.FastLane, 3)}
	left, err := q.Enqueue(t.Context(), want)
	require.NoError(t, err)
	require.Empty(t, left)
	var handled []ports.Job
	for range want {
		handled = append(handled, <-got)
	}
	require.ElementsMatch(t, want, handled)
	stop()
	require.NoError(t, <-done)
}

func TestQueue_AJobThatIsThere_CountsAsHandedOver(t *testing.T) {
	q := newQueue(t)
	for range 2 {
		left, err := q.Enqueue(t.Context(), []ports.Job{job(ports.FastLane, 1)})
		require.NoError(t, err)
		require.Empty(t, left)
	}
	depth, err := q.Depth(ports.FastLane)
	require.NoError(t, err)
	require.Equal(t, 1, depth["pending"])
}

func TestQueue_ThatNeverHeldATask_IsTidyAndEmpty(t *testing.T) {
	q := newQueue(t)
	require.NoError(t, q.Tidy(t.Context()))
	depth, err := q.Depth(ports.SlowLane)
	require.NoError(t, err)
	require.Empty(t, depth)
}

func TestQueue_Epoch_TellsALossOnce(t *testing.T) {
	client := redistest.New(t)
	q := asynq.New(client, slog.New(slog.DiscardHandler))
	for _, want := range []bool{true, false, false} {
		lost, err := q.Epoch(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, lost)
	}
	require.NoError(t, client.FlushDB(t.Context()).Err())
	lost, err := q.Epoch(t.Context())
	require.NoError(t, err)
	require.True(t, lost)
}

func TestQueue_WithoutRedis_GivesTheJobsBack(t *testing.T) {
	server := redistest.Server(t)
	q := asynq.New(redistest.ServerClient(t, server), slog.New(slog.DiscardHandler))
	require.NoError(t, q.Ping(t.Context()))
	require.NoError(t, server.Kill())
	jobs := []ports.Job{job(ports.FastLane, 1), job(ports.SlowLane, 2)}
	left, err := q.Enqueue(t.Context(), jobs)
	require.Error(t, err)
	require.ElementsMatch(t, jobs, left)
	require.Error(t, q.Ping(t.Context()))
}
