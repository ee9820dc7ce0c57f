package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
	"partnerdeposits/ports/platform/batch"
	"partnerdeposits/ports/platform/outage"
	webhookports "partnerdeposits/ports/webhooks"
)

// Config bounds the dispatcher.
type Config struct {
	// The settings of WEBHOOK_…: required, because process/config states their defaults.
	Schedule            webhook.Schedule
	Timeout             time.Duration // of an attempt, all in all
	Concurrency         int           // POSTs in flight in this process, over all subscriptions and lanes
	EndpointConcurrency int           // POSTs in flight in this process to a subscription

	// Zero fields take defaults.
	RelayEvery time.Duration // the outbox is polled this often while no doorbell works
	ScanEvery  time.Duration // due deliveries are searched this often while no doorbell works, or while there are some
	Batch      int           // events relayed in a transaction
	JobSize    int           // claims in a job
	Window     int           // claims of all subscriptions, over all dispatchers
	Lease      time.Duration // of a claim: the attempt and the wait before it
}

// leaseSpare is the part of a lease for the way to the POST and the record after it.
const leaseSpare = 20 * time.Second

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
	span(&c.RelayEvery, 50*time.Millisecond)
	span(&c.ScanEvery, 100*time.Millisecond)
	set(&c.Batch, 500)
	set(&c.JobSize, 32)
	set(&c.Window, 4096)
	span(&c.Lease, c.Timeout+leaseSpare)
	return c
}

// slowSlots is how many of the process's slots the slow lane may use.
func (c Config) slowSlots() int { return max(c.Concurrency/2, 1) }

// reservedSlots is how many of the process's slots only subscriptions with less than fewSlots POSTs in flight may use.
func (c Config) reservedSlots() int { return c.Concurrency / 4 }

func (c Config) fewSlots() int { return max(c.Concurrency/64, 1) }

// jobs is how many jobs of each lane the process works on. A job has at least one claim, so these jobs can fill all
// slots.
func (c Config) jobs() map[webhookports.Lane]int {
	return map[webhookports.Lane]int{webhookports.FastLane: c.Concurrency, webhookports.SlowLane: c.slowSlots()}
}

// Deps holds the ports of the dispatcher.
type Deps struct {
	Relay     webhookports.RelayStore
	Claims    webhookports.ClaimStore
	Work      webhookports.WorkStore
	Endpoints webhookports.Endpoints
	Queue     webhookports.JobQueue
	Sender    webhookports.Sender
	Clock     ports.Clock
	Metrics   webhookports.DispatchMetrics
	Random    func() float64 // uniform in [0,1), for jitter
	Log       *slog.Logger

	RingFeeds      func(partners []id.ID) // called after the events of the partners got their numbers; nil: not called
	OutboundBroken func(broken bool)      // called after each look at our own way out; nil: not called

	Bell      <-chan struct{} // receives after commits that wrote to the outbox
	DueBell   <-chan struct{} // receives after deliveries became due
	BellWorks func() bool     // false: rings may be lost, and polling replaces the bells; nil: always false
}

// Dispatcher delivers webhooks. Any number of processes may deliver at the same time.
type Dispatcher struct {
	Deps
	config    Config
	registry  *registry
	loads     batch.Queue[*webhookports.Delivery]
	records   batch.Queue[webhookports.Outcome]
	transport *transport
	attempts  attemptLog
	successes successes
	outbound  outbound
	posts     sync.WaitGroup // claims in flight
	stopping  atomic.Bool    // claims without a slot are released
	freed     chan struct{}  // receives when a window has room again
	due       chan struct{}  // receives when this process made deliveries due
	database  *outage.Log
}

// Batches of reads and of writes share a round trip. The linger of records bounds how long a finished POST is not yet
// recorded (delivery.md, point 6).
const (
	loadLimit    = 200
	recordLimit  = 500
	recordLinger = 5 * time.Millisecond
	storeWorkers = 2
)

// New prepares a dispatcher. Run starts it.
func New(deps Deps, config Config) *Dispatcher {
	config = config.withDefaults()
	d := &Dispatcher{
		Deps: deps, config: config, registry: newRegistry(config, deps.Clock.Now),
		freed: make(chan struct{}, 1), due: make(chan struct{}, 1), database: outage.New(deps.Log),
	}
	if d.RingFeeds == nil {
		d.RingFeeds = func([]id.ID) {}
	}
	if d.OutboundBroken == nil {
		d.OutboundBroken = func(bool) {}
	}
	if d.BellWorks == nil {
		d.BellWorks = func() bool { return false }
	}
	// The claims of a job ask for their deliveries from goroutines that become ready in turn.
	d.loads.Workers, d.loads.Limit, d.loads.Yield = storeWorkers, loadLimit, true
	d.records.Workers, d.records.Limit, d.records.Linger = storeWorkers, recordLimit, recordLinger
	d.transport = &transport{d: d, queue: outage.New(deps.Log)}
	d.attempts.log = deps.Log
	return d
}

// Run delivers until ctx ends. Then it finishes and records the POSTs in flight, releases the other claims and returns
// nil. An error means that the queue cannot be served.
func (d *Dispatcher) Run(ctx context.Context) error {
	endless := context.WithoutCancel(ctx)
	d.loads.Run = func(deliveries []*webhookports.Delivery) { d.load(endless, deliveries) }
	d.records.Run = func(outcomes []webhookports.Outcome) { d.record(endless, outcomes) }
	defer context.AfterFunc(ctx, func() {
		d.stopping.Store(true)
		d.giveBack(endless, d.registry.close())
	})()
	var loops sync.WaitGroup
	for _, loop := range []func(context.Context){d.relayLoop, d.scanLoop, d.countLoop, d.transport.watch} {
		loops.Go(func() { loop(ctx) })
	}
	err := d.Queue.Serve(ctx, d.config.jobs(), d.handle)
	loops.Wait()
	d.posts.Wait()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// countLoop corrects the counts of claims by the database's counts, because other dispatchers claim as well. The counts
// matter to a window that fills up, and not to a process without claims.
func (d *Dispatcher) countLoop(ctx context.Context) {
	for crowded := false; d.awaitCount(ctx, crowded); {
		d.watchOutbound(ctx)
		if !d.registry.used() {
			continue
		}
		mark := d.registry.mark()
		counts, err := d.Claims.CountClaimed(ctx)
		if err != nil {
			d.complain(ctx, "count deliveries in flight", err)
			continue
		}
		d.database.Worked(ctx)
		d.registry.correct(counts, mark)
		crowded = d.registry.crowded()
	}
}

// awaitCount waits for the next count, which follows soon while a window fills up. The result is false when ctx ended.
func (d *Dispatcher) awaitCount(ctx context.Context, crowded bool) bool {
	const busy, calm = 100 * time.Millisecond, time.Second
	if crowded {
		return pause(ctx, busy)
	}
	timer := time.NewTimer(calm)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	case <-d.registry.crowding:
		return pause(ctx, busy)
	}
}

// complain logs an error of a loop that goes on. Errors of a shutdown are not logged. All loops meet an outage of the
// database, which is told once.
func (d *Dispatcher) complain(ctx context.Context, what string, err error) {
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, fault.ErrUnavailable):
		d.database.Failed(ctx, "dispatcher: cannot "+what, "error", err)
	default:
		d.Log.WarnContext(ctx, "dispatcher: cannot "+what, "error", err)
	}
}

// signal wakes the receiver of a channel with room for a single signal.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// pause waits for the span, and returns false when ctx ended first.
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
