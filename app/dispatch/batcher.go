package dispatch

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// batcher turns many single calls into few calls over groups: what comes in while one group is being worked on is the
// next group. linger makes a group wait a moment for company.
type batcher[In, Out any] struct {
	limit  int
	linger time.Duration
	work   func(ctx context.Context, group []In) ([]Out, error)
	queue  chan pending[In, Out]
	door   sync.Mutex // one gathers at a time: two would share what makes one large group
}

type pending[In, Out any] struct {
	in   In
	done chan<- result[Out]
}

type result[Out any] struct {
	out Out
	err error
}

func newBatcher[In, Out any](limit int, linger time.Duration, work func(context.Context, []In) ([]Out, error)) *batcher[In, Out] {
	return &batcher[In, Out]{limit: limit, linger: linger, work: work, queue: make(chan pending[In, Out], limit)}
}

// do hands in one item and waits for its group.
func (b *batcher[In, Out]) do(in In) (Out, error) {
	done := make(chan result[Out], 1)
	b.queue <- pending[In, Out]{in, done}
	r := <-done
	return r.out, r.err
}

// serve works on groups until ctx ends; by then every caller of do has its answer, or there is no caller.
func (b *batcher[In, Out]) serve(ctx context.Context) {
	for {
		group := b.next(ctx)
		if group == nil {
			return
		}
		b.answer(ctx, group)
	}
}

// next waits for a group; nil when ctx ended.
func (b *batcher[In, Out]) next(ctx context.Context) []pending[In, Out] {
	b.door.Lock()
	defer b.door.Unlock()
	select {
	case <-ctx.Done():
		return nil
	case first := <-b.queue:
		return b.gather(first)
	}
}

func (b *batcher[In, Out]) gather(first pending[In, Out]) []pending[In, Out] {
	group := []pending[In, Out]{first}
	if b.linger == 0 {
		// The claims of a job come one after the other, on goroutines that are ready to run.
		for before := 0; before < len(group) && len(group) < b.limit; {
			before = len(group)
			runtime.Gosched()
			group = b.ready(group)
		}
		return group
	}
	timer := time.NewTimer(b.linger)
	defer timer.Stop()
	for len(group) < b.limit {
		select {
		case p := <-b.queue:
			group = append(group, p)
		case <-timer.C:
			return group
		}
	}
	return group
}

// ready adds what waits already.
func (b *batcher[In, Out]) ready(group []pending[In, Out]) []pending[In, Out] {
	for len(group) < b.limit {
		select {
		case p := <-b.queue:
			group = append(group, p)
		default:
			return group
		}
	}
	return group
}

func (b *batcher[In, Out]) answer(ctx context.Context, group []pending[In, Out]) {
	in := make([]In, len(group))
	for i, p := range group {
		in[i] = p.in
	}
	out, err := b.work(ctx, in)
	for i, p := range group {
		if err != nil {
			p.done <- result[Out]{err: err}
			continue
		}
		p.done <- result[Out]{out: out[i]}
	}
}
