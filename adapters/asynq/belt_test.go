package asynq_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/asynq"
	"partnerdeposits/lab/redistest"
	webhookports "partnerdeposits/ports/webhooks"
)

// trips notes the round trips of asynq's scripts to Redis: the scripts in each.
type trips struct {
	redis.Hook
	mu  sync.Mutex
	all []string
}

// scripts names a script by the number of its keys.
var scripts = map[string]string{"2": "enqueue", "4": "take", "5": "end"}

func (t *trips) note(cmds ...redis.Cmder) {
	var names []string
	for _, cmd := range cmds {
		if args := cmd.Args(); cmd.Name() == "evalsha" {
			names = append(names, scripts[fmt.Sprint(args[2])])
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, strings.Join(names, " "))
}

func (t *trips) has(trip string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Contains(t.all, trip)
}

func (t *trips) DialHook(next redis.DialHook) redis.DialHook { return next }

func (t *trips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { t.note(cmd); return next(ctx, cmd) }
}

func (t *trips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { t.note(cmds...); return next(ctx, cmds) }
}

func TestQueue_ATaskIsTakenAsItIsEnqueued_TogetherWithTheEndOfTheLast(t *testing.T) {
	t.Parallel()
	client, seen := redistest.New(t), &trips{}
	client.AddHook(seen)
	q := asynq.New(client, slog.New(slog.DiscardHandler), asynq.WithBell(workingBell{}))
	ctx, stop := context.WithCancel(t.Context())
	got, served := make(chan webhookports.Job, 1), make(chan error, 1)
	go func() {
		served <- q.Serve(ctx, map[webhookports.Lane]int{webhookports.FastLane: 64, webhookports.SlowLane: 1},
			func(_ context.Context, j webhookports.Job) { got <- j })
	}()
	n := byte(0)
	require.Eventually(t, func() bool { // once the server waits, and the last task has ended
		n++
		sent := job(webhookports.FastLane, n)
		left, err := q.Enqueue(t.Context(), []webhookports.Job{sent})
		return err == nil && left == nil && (<-got).Claims[0] == sent.Claims[0] && seen.has("end enqueue take")
	}, 10*time.Second, 20*time.Millisecond)
	require.Eventually(t, func() bool { // the end of the last task waits for no further one
		depth, err := q.Depth(webhookports.FastLane)
		return err == nil && depth["active"] == 0 && depth["pending"] == 0
	}, 5*time.Second, 20*time.Millisecond)
	require.True(t, seen.has("end"))
	stop()
	require.NoError(t, <-served)
}
