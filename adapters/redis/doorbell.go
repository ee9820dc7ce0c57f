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
)

const (
	doorbellChannel = "svc:doorbell"
	jobsChannel     = "svc:doorbell:jobs"
	// ringEvery is the least time between two PUBLISH commands of notifications, so that a burst of commits sends a
	// single one.
	ringEvery = 5 * time.Millisecond
)

type ring struct{ channel, payload string }

var (
	eventsRing = ring{doorbellChannel, ""}
	dueRing    = ring{doorbellChannel, "due"}
	jobsRing   = ring{jobsChannel, "fast"} // Dispatchers of the last release know jobs of two lanes.
	rings      = []ring{eventsRing, dueRing, jobsRing}
)

// Doorbell notifies dispatchers through Redis of committed events, of due deliveries and of jobs. Its methods never
// wait and never fail; a notification may be lost.
type Doorbell struct {
	client  redis.UniversalClient
	breaker *Breaker
	wanted  atomic.Uint64 // A bit for each kind of notification to dispatchers that is to be sent.
	began   time.Time
	// The earliest time of the next PUBLISH command of notifications, in nanoseconds since began.
	free atomic.Int64
	rung chan struct{}
	stop context.CancelFunc
	done sync.WaitGroup

	feedsMu sync.Mutex
	// The partners that have new events, of which the http processes are to be notified.
	feeds map[id.ID]struct{}
}

// NewDoorbell starts the goroutine that publishes notifications to dispatchers. Close the doorbell before the
// breaker.
func NewDoorbell(client redis.UniversalClient, breaker *Breaker) *Doorbell {
	ctx, stop := context.WithCancel(context.Background())
	d := &Doorbell{
		client: client, breaker: breaker, rung: make(chan struct{}, 1), stop: stop, began: time.Now(),
		feeds: map[id.ID]struct{}{},
	}
	d.done.Go(func() { d.run(ctx) })
	return d
}

func (d *Doorbell) WakeRelays() { d.ring(eventsRing) }

func (d *Doorbell) WakeScans() { d.ring(dueRing) }

func (d *Doorbell) NotifyJobs() { d.ring(jobsRing) }

// ring wakes the goroutine that publishes notifications.
func (d *Doorbell) ring(r ring) {
	d.wanted.Or(1 << slices.Index(rings, r))
	signal(d.rung)
	if d.early() <= 0 {
		runtime.Gosched()
	}
}

// early returns how long the next notification must wait for ringEvery to lie between it and the last; 0 or
// less: it may be published now.
func (d *Doorbell) early() time.Duration { return time.Duration(d.free.Load()) - time.Since(d.began) }

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Close ends the goroutine that publishes notifications. A notification that is still to be sent is lost.
func (d *Doorbell) Close() {
	d.stop()
	d.done.Wait()
}

// run publishes notifications to dispatchers, with at least ringEvery between two of them.
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
		// The error is ignored: a lost notification costs at most one interval of the dispatchers' polling.
		_ = d.breaker.Do(ctx, func(ctx context.Context) error {
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
