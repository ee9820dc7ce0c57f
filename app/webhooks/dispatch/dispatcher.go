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
	ports "partnerdeposits/ports/platform"
	"partnerdeposits/ports/platform/batch"
	"partnerdeposits/ports/platform/outage"
	webhookports "partnerdeposits/ports/webhooks"
)

// Deps holds the interfaces that the dispatcher needs.
type Deps struct {
	Relay     webhookports.RelayStore
	Claims    webhookports.ClaimStore
	Work      webhookports.WorkStore
	Endpoints webhookports.Endpoints
	Queue     webhookports.JobQueue
	Sender    webhookports.Sender
	Clock     ports.Clock
	Metrics   webhookports.DispatchMetrics
	Random    func() float64 // A function that returns uniform random numbers in [0,1), for jitter.
	Log       *slog.Logger

	// RingFeeds wakes the requests of partners that wait for events. It is called after events of the partners got
	// their numbers, or a test delivery of theirs ended; nil: not called.
	RingFeeds func(partners []id.ID)
	// A function that is called after each check of the outbound network of this service; nil: not called.
	OutboundBroken func(broken bool)
	// KeysetProven reports whether the database proves that the keyset is its own. true: a secret that does not
	// decrypt is lost. false: this process may lack a key, and the delivery is left to other dispatchers. nil:
	// always false.
	KeysetProven func() bool

	Bell    <-chan struct{} // A channel that receives after commits that wrote to the outbox.
	DueBell <-chan struct{} // A channel that receives after deliveries became due.
	// true: the doorbell works; false: its wake-up notifications may be lost, and polling replaces them; nil: always
	// false.
	BellWorks func() bool
	// true: this dispatcher relays; false: another dispatcher that the doorbell reaches relays; nil: always true.
	Leads func() bool
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
	posts     sync.WaitGroup // The claims that are in flight in this process.
	stopping  atomic.Bool    // true: the process stops, and claims without a slot are released; false: it runs.
	// A channel that receives when the window of a subscription may have room for claims again.
	freed     chan struct{}
	due       chan struct{} // A channel that receives when this process made deliveries due.
	nextRelay time.Time     // The earliest time of the next relay; only the goroutine of the relay uses it.
	// The time before which no claim goes to the queue ahead of its commit; only the goroutine of the relay uses it.
	aheadFrom time.Time
	database  *outage.Log
}

// Batches of reads and of writes share a round trip to the database. The linger of records bounds how long a
// finished POST is not yet recorded (delivery.md, point 6).
const (
	loadLimit    = 200
	recordLimit  = 500
	recordLinger = 5 * time.Millisecond
	// The time without records after which the next record does not wait for others.
	recordQuiet  = 20 * time.Millisecond
	storeWorkers = 2
)

// New returns a dispatcher of webhooks, which Run starts.
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
	if d.KeysetProven == nil {
		d.KeysetProven = func() bool { return false }
	}
	if d.BellWorks == nil {
		d.BellWorks = func() bool { return false }
	}
	if d.Leads == nil {
		d.Leads = func() bool { return true }
	}
	// The claims of a job load their deliveries from goroutines that become ready one after the other, so a batch of
	// loads yields to them.
	d.loads.Workers, d.loads.Limit, d.loads.Yield = storeWorkers, loadLimit, true
	d.records.Workers, d.records.Limit, d.records.Linger = storeWorkers, recordLimit, recordLinger
	d.records.Quiet = recordQuiet
	d.transport = &transport{d: d, queue: outage.New(deps.Log)}
	d.attempts.log = deps.Log
	return d
}

// complain logs an error of a loop that goes on. Errors of a shutdown are not logged. All loops meet an outage of
// the database, which is logged once for all of them.
func (d *Dispatcher) complain(ctx context.Context, what string, err error) {
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, fault.ErrUnavailable):
		d.database.Failed(ctx, "dispatcher: cannot "+what, "error", err)
	default:
		d.Log.WarnContext(ctx, "dispatcher: cannot "+what, "error", err)
	}
}

// transport hands claims to workers: through the queue, or directly to this process while the queue is
// unreachable.
type transport struct {
	d     *Dispatcher
	away  atomic.Bool
	proof proof // The probes by which watch decides that the queue is used again.
	queue *outage.Log
}

// outbound is the last result of this process's check of the service's outbound network. Each dispatcher decides
// by the same rows.
type outbound struct {
	broken atomic.Bool
	since  time.Time // The beginning of the break of the outbound network; zero: there is none.
	asked  time.Time
}
