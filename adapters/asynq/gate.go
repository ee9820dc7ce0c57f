package asynq

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/redis/go-redis/v9"
)

// JobNotifier sends and receives the notifications by which dispatchers learn of each other's jobs, so that they poll
// the queue at once.
type JobNotifier interface {
	// NotifyJobs notifies the other dispatchers that the queue has jobs. The notification may be lost.
	NotifyJobs()
	// JobSignals returns a channel that receives when another dispatcher has enqueued jobs.
	JobSignals() <-chan struct{}
	// ReceivesNotifications reports whether wake-up notifications of jobs arrive.
	ReceivesNotifications() bool
}

// noNotifier sends and receives no wake-up notifications, so that the queue is polled.
type noNotifier struct{}

func (noNotifier) NotifyJobs()                 {}
func (noNotifier) JobSignals() <-chan struct{} { return nil }
func (noNotifier) ReceivesNotifications() bool { return false }

const (
	// takeScript is the SHA-1 of the script by which asynq v0.26 takes a task (dequeueCmd in its internal/rdb).
	takeScript = "a8153319360adc71cdc370107f8ab9786f204765"
	// startPatience is how long a server may take until its first poll of the queue.
	startPatience = 5 * time.Second
	// calmPoll is the time between two polls of an empty queue while wake-up notifications arrive, for jobs of a
	// process that died before its notification.
	calmPoll = time.Second
	// ownJobs is more than the number of jobs of a process that the queue can hold at a time.
	ownJobs = 4096
)

// ErrUnknownScripts is the error for a version of asynq whose polls of the queue the gate does not recognise, so that
// it would poll without a pause.
var ErrUnknownScripts = errors.New("queue: this version of asynq takes tasks by an unknown script; " +
	"compare takeScript in adapters/asynq/gate.go with asynq's dequeueCmd")

// pollGate is the Redis client of a server of asynq (the library of the job queue), and delays the server's polls
// of an empty queue, which would cost an idle service most of its CPU.
type pollGate struct {
	redis.UniversalClient
	takes  string        // The SHA-1 of the script by which asynq takes a task.
	polled chan struct{} // A channel that is closed by the first poll.
	// A channel that holds a signal for each job of this process, at most ownJobs.
	own    chan struct{}
	jobs   <-chan struct{}
	works  func() bool
	closed <-chan struct{}

	// The fields from here on belong to the goroutine of the server that polls the queue.
	begun  bool // Whether polled is closed.
	filled bool // Whether the queue may have jobs that are not of this process.
	empty  time.Time
}

// EvalSha calls a script in Redis. The script that takes a task waits until the queue may have one.
func (g *pollGate) EvalSha(ctx context.Context, sha1 string, keys []string, args ...any) *redis.Cmd {
	if sha1 != g.takes {
		return g.UniversalClient.EvalSha(ctx, sha1, keys, args...)
	}
	if !g.begun {
		g.begun = true
		close(g.polled)
	}
	if !g.await() {
		cmd := redis.NewCmd(ctx)
		// The error redis.Nil means to asynq, the library of the job queue, that the queue is empty.
		cmd.SetErr(redis.Nil)
		return cmd
	}
	cmd := g.UniversalClient.EvalSha(ctx, sha1, keys, args...)
	g.answered(cmd.Err())
	return cmd
}

// awaitPoll waits for the first poll of the server, which begins with one whether Redis answers or not.
func (g *pollGate) awaitPoll(ctx context.Context) error {
	timer := time.NewTimer(startPatience)
	defer timer.Stop()
	select {
	case <-g.polled:
	case <-ctx.Done():
	case <-timer.C:
		return ErrUnknownScripts
	}
	return nil
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

// await waits until the queue may have a job, and reports whether it is to be polled: false when the gate is closed. A
// signal is taken before the poll, so that a later job leaves a signal for the next.
func (g *pollGate) await() bool {
	select {
	case <-g.closed:
		return false
	default:
	}
	if g.filled {
		return true
	}
	timer := time.NewTimer(g.interval())
	defer timer.Stop()
	select {
	case <-g.closed:
		return false
	case <-g.own:
	case <-g.jobs:
		g.filled = true
	case <-timer.C:
		g.filled = true
	}
	return true
}

// interval returns the time until the next poll of the queue. It is random, which spreads the polls of several
// dispatchers.
func (g *pollGate) interval() time.Duration {
	if g.works() {
		return calmPoll
	}
	return quickPoll/2 + rand.N(quickPoll) //nolint:gosec // spreads load, hides nothing
}
