package redis

import (
	"context"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"partnerdeposits/core/id"
	webhookports "partnerdeposits/ports/webhooks"
)

const (
	doorbellChannel = "svc:doorbell"
	jobsChannel     = "svc:doorbell:jobs"
	// ringEvery is the least time between two PUBLISH commands, so that a burst of commits sends a single ring. Commits
	// after a ring get a ring of their own, because a relay reads the outbox only once per ring.
	ringEvery = 5 * time.Millisecond
)

// ring is a kind of ring: a channel and a payload.
type ring struct{ channel, payload string }

var (
	eventsRing = ring{doorbellChannel, ""} // events were committed
	dueRing    = ring{doorbellChannel, "due"}
	rings      = append([]ring{eventsRing, dueRing}, jobRings()...)
)

// jobRings has a ring for each lane, whose payload is the lane.
func jobRings() (all []ring) {
	for _, lane := range webhookports.Lanes {
		all = append(all, ring{jobsChannel, string(lane)})
	}
	return all
}

// Doorbell tells dispatchers of commits and of jobs. Ringing never waits and never fails; a ring may be lost.
type Doorbell struct {
	client  redis.UniversalClient
	breaker *Breaker
	wanted  atomic.Uint64 // a bit for each of rings
	began   time.Time
	free    atomic.Int64 // when the next ring may go, in nanoseconds since began
	rung    chan struct{}
	stop    context.CancelFunc
	done    sync.WaitGroup

	feedsMu sync.Mutex
	feeds   map[id.ID]struct{} // partners to ring for
}

// NewDoorbell starts the goroutine that rings. Close the doorbell before the breaker.
func NewDoorbell(client redis.UniversalClient, breaker *Breaker) *Doorbell {
	ctx, stop := context.WithCancel(context.Background())
	d := &Doorbell{
		client: client, breaker: breaker, rung: make(chan struct{}, 1), stop: stop, began: time.Now(),
		feeds: map[id.ID]struct{}{},
	}
	d.done.Go(func() { d.run(ctx) })
	return d
}

// Ring implements ports.Doorbell.
func (d *Doorbell) Ring() { d.ring(eventsRing) }

// RingDue implements ports.Doorbell.
func (d *Doorbell) RingDue() { d.ring(dueRing) }

// RingJobs tells the other dispatchers that the queue of a lane has jobs.
func (d *Doorbell) RingJobs(lane webhookports.Lane) { d.ring(ring{jobsChannel, string(lane)}) }

// ring wakes the goroutine that publishes rings. If no ring was published in the last ringEvery, that goroutine runs
// first, because the caller's next step is mostly to send a response, which the relay need not wait for.
func (d *Doorbell) ring(r ring) {
	d.wanted.Or(1 << slices.Index(rings, r))
	signal(d.rung)
	if d.early() <= 0 {
		runtime.Gosched()
	}
}

// early is how long a ring has to wait so that it follows the last one by ringEvery; 0 or less: not at all.
func (d *Doorbell) early() time.Duration { return time.Duration(d.free.Load()) - time.Since(d.began) }

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // the receiver has not taken the last signal, which stands for this one, too
	}
}

// Close ends the goroutine and loses a requested ring.
func (d *Doorbell) Close() {
	d.stop()
	d.done.Wait()
}

// run publishes rings, ringEvery apart at least. It waits before a ring that comes too early, since a timer after every
// ring would wake an idle process.
func (d *Doorbell) run(ctx context.Context) {
	for ; ; d.free.Store(int64(time.Since(d.began) + ringEvery)) {
		select {
		case <-ctx.Done():
			return
		case <-d.rung:
		}
		if early := d.early(); early > 0 {
			select {
			case <-ctx.Done():
				return
			case <-time.After(early):
			}
		}
		wanted, feeds := d.wanted.Swap(0), d.takeFeeds()
		_ = d.breaker.Do(ctx, func(ctx context.Context) error { // a lost ring costs an interval of polling
			_, err := d.client.Pipelined(ctx, func(p redis.Pipeliner) error {
				for ; wanted != 0; wanted &= wanted - 1 {
					r := rings[bits.TrailingZeros64(wanted)]
					p.Publish(ctx, r.channel, r.payload)
				}
				for _, partners := range feeds {
					p.Publish(ctx, feedChannel, partners)
				}
				return nil
			})
			return err
		})
	}
}
