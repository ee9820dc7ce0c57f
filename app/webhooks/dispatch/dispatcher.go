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

	// RingFeeds is called after events of the partners got their numbers, or a test of theirs ended; nil: not called.
	RingFeeds      func(partners []id.ID)
	OutboundBroken func(broken bool) // called after each look at our own way out; nil: not called
	// KeysetProven reports whether the database shows that the keyset is its own. A secret that does not decrypt is then
	// lost. Without the proof this process may lack a key, and the delivery stays for others. nil: always false.
	KeysetProven func() bool

	Bell      <-chan struct{} // receives after commits that wrote to the outbox
	DueBell   <-chan struct{} // receives after deliveries became due
	BellWorks func() bool     // false: rings may be lost, and polling replaces the bells; nil: always false
	Leads     func() bool     // false: another dispatcher that hears the bell relays; nil: always true
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
	nextRelay time.Time      // at the earliest; of the relay's goroutine
	aheadFrom time.Time      // no claim goes ahead of its commit before; of the relay's goroutine
	database  *outage.Log
}

// Batches of reads and of writes share a round trip. The linger of records bounds how long a finished POST is not yet
// recorded (delivery.md, point 6).
const (
	loadLimit    = 200
	recordLimit  = 500
	recordLinger = 5 * time.Millisecond
	recordQuiet  = 20 * time.Millisecond // a lone record has no company to wait for
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
	if d.KeysetProven == nil {
		d.KeysetProven = func() bool { return false }
	}
	if d.BellWorks == nil {
		d.BellWorks = func() bool { return false }
	}
	if d.Leads == nil {
		d.Leads = func() bool { return true }
	}
	// The claims of a job ask for their deliveries from goroutines that become ready in turn.
	d.loads.Workers, d.loads.Limit, d.loads.Yield = storeWorkers, loadLimit, true
	d.records.Workers, d.records.Limit, d.records.Linger = storeWorkers, recordLimit, recordLinger
	d.records.Quiet = recordQuiet
	d.transport = &transport{d: d, queue: outage.New(deps.Log)}
	d.attempts.log = deps.Log
	return d
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

// transport hands claims to workers: through the queue, or directly to this process while the queue is away.
type transport struct {
	d     *Dispatcher
	away  atomic.Bool
	proof proof // of watch
	queue *outage.Log
}

// outbound is what this process knows of our own way out. Each dispatcher decides by the same rows.
type outbound struct {
	broken atomic.Bool
	since  time.Time // of the break; zero: none
	asked  time.Time
}
