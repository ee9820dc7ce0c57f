package asynq

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	webhookports "partnerdeposits/ports/webhooks"
)

// JobNotifier sends and receives the notifications by which dispatchers learn of each other's jobs, so that they poll
// the queue at once.
type JobNotifier interface {
	// NotifyJobs notifies the other dispatchers that a lane (fast or slow) has jobs. The notification may be lost.
	NotifyJobs(lane webhookports.Lane)
	// JobSignals returns a channel that receives when another dispatcher has enqueued jobs in a lane (fast or slow).
	JobSignals(lane webhookports.Lane) <-chan struct{}
	// ReceivesNotifications reports whether wake-up notifications of jobs arrive.
	ReceivesNotifications() bool
}

// noNotifier sends and receives no wake-up notifications, so that the queues are polled.
type noNotifier struct{}

func (noNotifier) NotifyJobs(webhookports.Lane)                 {}
func (noNotifier) JobSignals(webhookports.Lane) <-chan struct{} { return nil }
func (noNotifier) ReceivesNotifications() bool                  { return false }

// calmPoll is the time between two polls of an empty queue while wake-up notifications arrive, for jobs of a
// process that died before its notification.
const calmPoll = time.Second

// pollGate is the Redis client of a server of asynq (the library of the job queue), and delays the server's polls
// of an empty queue, which would cost an idle service most of its CPU.
type pollGate struct {
	redis.UniversalClient
	pipeline *pipeline
	// A channel that holds a signal for each job of this process, at most ownJobs.
	own   chan struct{}
	jobs  <-chan struct{}
	works func() bool
	// The mean interval between two polls of an empty queue while no wake-up notifications arrive.
	quick  time.Duration
	closed <-chan struct{}

	// The fields from here on belong to the goroutine of the server that polls the queue.
	filled bool // Whether the queue may have jobs that are not of this process.
	empty  time.Time
}

// ownJobs is more than the number of jobs of a process that the queue can hold at a time.
const ownJobs = 4096

// EvalSha calls a script in Redis. The script that takes a task waits in poll, and the script that ends a task is
// sent through the pipeline.
func (g *pollGate) EvalSha(ctx context.Context, sha1 string, keys []string, args ...any) *redis.Cmd {
	switch {
	case isDequeue(keys):
		cmd := g.poll(ctx, newScript(sha1, keys, args))
		if cmd == nil {
			cmd = redis.NewCmd(ctx)
			// The error redis.Nil means to asynq, the library of the job queue, that the queue is empty.
			cmd.SetErr(redis.Nil)
			return cmd
		}
		g.answered(cmd.Err())
		return cmd
	case isDone(keys):
		return g.pipeline.end(ctx, newScript(sha1, keys, args))
	default:
		return g.UniversalClient.EvalSha(ctx, sha1, keys, args...)
	}
}

func isDequeue(keys []string) bool {
	return len(keys) == 4 && strings.HasSuffix(keys[0], ":pending") && strings.HasSuffix(keys[1], ":paused")
}

// answered records the answer to a poll of the queue. Polls go on unless the queue was empty lately, since a poll
// may take a task whose process died before its wake-up notification.
func (g *pollGate) answered(err error) {
	switch {
	case err == nil:
		g.filled = g.filled || time.Since(g.empty) > calmPoll
	case errors.Is(err, redis.Nil):
		g.filled, g.empty = false, time.Now()
	// Redis does not know the script of the poll: asynq then sends the script's text, which polls the queue.
	case redis.HasErrorPrefix(err, "NOSCRIPT"):
		g.filled = true
	default: // Redis is unreachable, so the next poll waits for the whole interval.
		g.filled = false
	}
}

// poll sends a poll of the queue once the queue may have a job, or together with the next job of this process; the
// result is nil when the gate is closed. A signal is taken before the poll, so that a later job leaves a signal
// for the next.
func (g *pollGate) poll(ctx context.Context, question *script) *redis.Cmd {
	select {
	case <-g.closed:
		return nil
	default:
	}
	if !g.filled {
		timer := time.NewTimer(g.interval())
		defer timer.Stop()
		select {
		case <-g.closed:
			return nil
		case g.pipeline.polls <- question:
			<-question.done
			return question.cmd
		case <-g.own:
		case <-g.jobs:
			g.filled = true
		case <-timer.C:
			g.filled = true
		}
	}
	return g.UniversalClient.EvalSha(ctx, question.hash, question.keys, question.args...)
}

// interval returns the time until the next poll of the queue. It is random, which spreads the polls of several
// dispatchers.
func (g *pollGate) interval() time.Duration {
	if g.works() {
		return calmPoll
	}
	return g.quick/2 + rand.N(g.quick) //nolint:gosec // spreads load, hides nothing
}
