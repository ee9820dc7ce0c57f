package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
	"partnerdeposits/ports/batch"
)

// Config bounds the dispatcher. Zero fields take the defaults.
type Config struct {
	Schedule            webhook.Schedule
	Timeout             time.Duration // of one attempt, in all
	Concurrency         int           // jobs under way in the fast lane
	EndpointConcurrency int           // slots of an endpoint, per process
	EventIDHeader       bool          // send X-Svc-Event-Id

	RelayEvery time.Duration // look at the outbox this often, rung or not
	ScanEvery  time.Duration // look for what is due this often
	Batch      int           // events relayed in one transaction
	JobSize    int           // claims in one job
	Window     int           // claims of all endpoints at once, over all dispatchers
	Lease      time.Duration // how long a claim holds: an attempt, and the wait before it
}

func (c Config) withDefaults() Config {
	set := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	span := func(v *time.Duration, d time.Duration) {
		if *v <= 0 {
			*v = d
		}
	}
	if len(c.Schedule) == 0 {
		c.Schedule = webhook.DefaultSchedule
	}
	span(&c.Timeout, 10*time.Second)
	set(&c.Concurrency, 256)
	set(&c.EndpointConcurrency, 64)
	span(&c.RelayEvery, 50*time.Millisecond)
	span(&c.ScanEvery, 100*time.Millisecond)
	set(&c.Batch, 500)
	set(&c.JobSize, 32)
	set(&c.Window, 4096)
	span(&c.Lease, c.Timeout+leaseSpare)
	return c
}

// endpointWindow keeps an endpoint's slots busy across the way through the queue, and no more.
func (c Config) endpointWindow() int { return 8 * c.EndpointConcurrency }

// Deps is what the dispatcher stands on.
type Deps struct {
	Relay   ports.RelayStore
	Claims  ports.ClaimStore
	Work    ports.WorkStore
	Queue   ports.JobQueue
	Sender  ports.Sender
	Clock   ports.Clock
	Entropy ports.Entropy
	Metrics ports.DispatchMetrics
	Random  func() float64  // uniform in [0,1), for jitter
	Bell    <-chan struct{} // rung after a commit that wrote to the outbox
	Log     *slog.Logger
}

// Dispatcher is one process's share of the work. Any number may run.
type Dispatcher struct {
	Deps
	config    Config
	endpoints *registry
	loads     batch.Queue[*load]
	records   batch.Queue[*record]
	transport *transport
	posts     sync.WaitGroup
	stopping  atomic.Bool   // tasks that wait for a slot are given up
	freed     chan struct{} // an endpoint's window has room again
}

// New prepares a dispatcher; Run starts it.
func New(deps Deps, config Config) *Dispatcher {
	d := &Dispatcher{Deps: deps, config: config.withDefaults(), freed: make(chan struct{}, 1)}
	d.endpoints = newRegistry(d.config.EndpointConcurrency, d.config.endpointWindow(), d.config.Window)
	// The claims of a job reach the loader one after the other, from goroutines that are ready to run.
	d.loads.Workers, d.loads.Limit, d.loads.Yield, d.loads.Run = storeWorkers, loadLimit, true, d.loadBatch
	d.records.Workers, d.records.Limit, d.records.Linger, d.records.Run = storeWorkers, recordLimit, recordLinger, d.recordBatch
	d.transport = &transport{d: d}
	return d
}

// Batches of reads and of writes share a round trip. The linger of records bounds how long a POST that was made is not
// yet recorded (delivery.md, point 6).
const (
	loadLimit    = 200
	recordLimit  = 500
	recordLinger = 5 * time.Millisecond
	storeWorkers = 2
)

// Run works until ctx ends, then finishes what is under way and records it. It returns nil then.
func (d *Dispatcher) Run(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { d.stopping.Store(true) })()
	var loops sync.WaitGroup
	for _, loop := range []func(context.Context){d.relayLoop, d.scanLoop, d.countLoop, d.transport.watch} {
		loops.Go(func() { loop(ctx) })
	}
	err := d.Queue.Serve(ctx, map[ports.Lane]int{
		ports.FastLane: d.config.Concurrency,
		ports.SlowLane: max(d.config.Concurrency/4, d.config.EndpointConcurrency),
	}, d.handle)
	loops.Wait()
	d.posts.Wait()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// countLoop corrects the windows by what the database counts, since other dispatchers take part of the work.
func (d *Dispatcher) countLoop(ctx context.Context) {
	const busy, idle = 100 * time.Millisecond, time.Second
	for every := idle; pause(ctx, every); {
		began := d.endpoints.mark()
		counts, err := d.Claims.UnderWay(ctx)
		if err != nil {
			d.complain(ctx, "count deliveries under way", err)
			continue
		}
		d.endpoints.correct(counts, began)
		if every = idle; len(counts) > 0 {
			every = busy
		}
	}
}

// complain logs an error of a loop that goes on, but not those of a shutdown.
func (d *Dispatcher) complain(ctx context.Context, what string, err error) {
	if ctx.Err() == nil {
		d.Log.WarnContext(ctx, "dispatcher: cannot "+what, "error", err)
	}
}

// pause waits; false when ctx ended first.
func pause(ctx context.Context, span time.Duration) bool {
	timer := time.NewTimer(span)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
