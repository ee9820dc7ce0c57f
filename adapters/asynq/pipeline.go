package asynq

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// endLinger bounds how long the end of a task waits for a round trip to Redis that it can share. The task
// counts as active in the meantime.
const endLinger = 100 * time.Millisecond

// pipeline sends the Lua scripts of asynq, the library of the job queue, for one lane (the fast or the slow queue)
// to Redis, several in a single round trip.
type pipeline struct {
	client redis.UniversalClient
	polls  chan *script // The channel into which a server that waits for a task puts its script that takes one.

	mu       sync.Mutex
	ends     []*script
	linger   *time.Timer
	mostEnds int // The number of held-back scripts that end tasks at which all of them are sent at once.
}

func newPipeline(client redis.UniversalClient) *pipeline {
	return &pipeline{client: client, polls: make(chan *script), mostEnds: 1}
}

// holds sets how many scripts that end tasks may be held back before all are sent: an eighth of the server's
// workers, at least one and at most eight.
func (p *pipeline) holds(workers int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mostEnds = max(1, min(workers/8, 8))
}

type script struct {
	hash string
	keys []string
	args []any
	cmd  *redis.Cmd // The result of the call, which is set once done is closed.
	done chan struct{}
}

func newScript(hash string, keys []string, args []any) *script {
	return &script{hash: hash, keys: keys, args: args, done: make(chan struct{})}
}

// enqueue adds a task to the queue. taken reports whether a server has taken a task in the same round trip.
func (p *pipeline) enqueue(ctx context.Context, task *script) (taken bool) {
	scripts := append(p.takeEnds(), task)
	select {
	case poll := <-p.polls:
		p.send(ctx, append(scripts, poll))
		return poll.cmd.Err() == nil
	default:
		p.send(ctx, scripts)
		return false
	}
}

func (p *pipeline) end(ctx context.Context, task *script) *redis.Cmd {
	p.mu.Lock()
	p.ends = append(p.ends, task)
	full := len(p.ends) >= p.mostEnds
	if !full && len(p.ends) == 1 {
		p.linger = time.AfterFunc(endLinger, func() { p.send(context.Background(), p.takeEnds()) })
	}
	p.mu.Unlock()
	if full {
		p.send(ctx, p.takeEnds())
	}
	<-task.done
	return task.cmd
}

func (p *pipeline) takeEnds() []*script {
	p.mu.Lock()
	defer p.mu.Unlock()
	ends := p.ends
	p.ends = nil
	if p.linger != nil {
		// Stop the timer for held-back scripts: none is left, and it would wake the process for nothing.
		p.linger.Stop()
	}
	return ends
}

// send calls Lua scripts in Redis in a single round trip. Each script gets its own result, or the error of the round
// trip.
func (p *pipeline) send(ctx context.Context, scripts []*script) {
	if len(scripts) == 0 {
		return
	}
	pipe := p.client.Pipeline()
	for _, s := range scripts {
		s.cmd = pipe.EvalSha(ctx, s.hash, s.keys, s.args...)
	}
	_, _ = pipe.Exec(ctx) // The error of the pipeline is ignored, since each of its commands has its own.
	for _, s := range scripts {
		close(s.done)
	}
}

type enqueueClient struct {
	redis.UniversalClient
	// The pipelines of Redis commands, by the Redis key of the queue's list of waiting tasks.
	pipelines map[string]*pipeline
}

// takenKey is the context key of a *bool that is set to true if a server took a task as it was enqueued, and to
// false if not.
type takenKey struct{}

// EvalSha calls a Lua script in Redis. The script that enqueues a task is sent through the pipeline of its
// queue, together with others.
func (e enqueueClient) EvalSha(ctx context.Context, hash string, keys []string, args ...any) *redis.Cmd {
	if len(keys) != 2 || e.pipelines[keys[1]] == nil {
		return e.UniversalClient.EvalSha(ctx, hash, keys, args...)
	}
	task := newScript(hash, keys, args)
	taken := e.pipelines[keys[1]].enqueue(ctx, task)
	if told, ok := ctx.Value(takenKey{}).(*bool); ok {
		*told = taken
	}
	return task.cmd
}

func pendingKey(queue string) string { return "asynq:{" + queue + "}:pending" }

func isDone(keys []string) bool {
	return len(keys) == 5 && strings.HasSuffix(keys[0], ":active") && strings.HasSuffix(keys[4], ":processed")
}
