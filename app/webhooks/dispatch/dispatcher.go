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

type Deps struct {
	Relay     webhookports.RelayStore
	Claims    webhookports.ClaimStore
	Work      webhookports.AttemptStore
	Endpoints webhookports.EndpointStore
	Queue     webhookports.JobQueue
	Sender    webhookports.Sender
	Clock     ports.Clock
	Metrics   webhookports.DispatchMetrics
	Random    func() float64 // A function that returns uniform random numbers in [0,1), for jitter.
	Log       *slog.Logger

	// RingFeeds wakes the requests of partners that wait for events, after new events or the end of a test delivery;
	// nil: no request is woken.
	RingFeeds func(partners []id.ID)
	// A function that is called after each check of the outbound network of this service; nil: not called.
	OutboundBroken func(broken bool)
	// KeysetProven reports whether the database proves that the keyset is its own, so that a secret that does not
	// decrypt is lost; nil: always false.
	KeysetProven func() bool

	Bell    <-chan struct{} // A channel that receives after commits that stored events in the outbox.
	DueBell <-chan struct{} // A channel that receives after deliveries became due.
	// Whether wake-up notifications arrive, so that polling may be rare; nil: always false.
	BellWorks func() bool
	// Whether this dispatcher makes deliveries of the events in the outbox; nil: always true.
	Leads func() bool
}

// Dispatcher delivers webhooks. Any number of processes may deliver at the same time.
type Dispatcher struct {
	Deps
	config    Config
	registry  *registry
	loads     batch.Queue[*webhookports.Delivery]
	records   batch.Queue[webhookports.AttemptOutcome]
	transport *transport
	attempts  attemptLog
	successes successes
	outbound  outbound
	posts     sync.WaitGroup
	// Whether the process stops, so that deliveries whose POST has not begun are given up.
	stopping atomic.Bool
	// A channel that receives when further deliveries of a subscription may be claimed, that is, reserved for an
	// attempt.
	freed chan struct{}
	due   chan struct{} // A channel that receives when this process made deliveries due.
	// The earliest time at which the outbox is read next; only the goroutine that reads the outbox uses it.
	nextRelay time.Time
	database  *outage.Log
}

// Limits of the batches in which deliveries are read and outcomes are written, to share a round trip to the
// database. A finished POST is recorded at most the linger of records later (delivery.md, point 6).
const (
	storeLimit   = 500
	recordLinger = 5 * time.Millisecond
	storeWorkers = 2
)

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
	d.loads.Workers, d.loads.Limit = storeWorkers, storeLimit
	d.records.Workers, d.records.Limit, d.records.Linger = storeWorkers, storeLimit, recordLinger
	d.transport = &transport{d: d, queue: outage.New(deps.Log)}
	d.attempts.log = deps.Log
	return d
}

// complain logs an error of a background loop that goes on.
func (d *Dispatcher) complain(ctx context.Context, what string, err error) {
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, fault.ErrUnavailable):
		d.database.RecordFailure(ctx, "dispatcher: cannot "+what, "error", err)
	default:
		d.Log.WarnContext(ctx, "dispatcher: cannot "+what, "error", err)
	}
}

// transport hands claims of deliveries to workers: through the queue in Redis, or directly to this process while
// Redis is unreachable.
type transport struct {
	d      *Dispatcher
	away   atomic.Bool
	passed int // The successful tests of the queue in a row while it is not used.
	queue  *outage.Log
}

// outbound is the last result of this process's check of the service's own internet connection. All dispatchers
// decide by the same rows.
type outbound struct {
	broken atomic.Bool
	since  time.Time // Since when the service's own internet connection is broken; zero: not broken.
	asked  time.Time
}
