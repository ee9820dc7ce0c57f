package redis

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	doorbellChannel = "svc:doorbell"
	// ringEvery is the least time between two rings on the wire: a burst of commits is one ring, and what is
	// committed meanwhile has one of its own after it, since a relay that was rung looks but once.
	ringEvery = 5 * time.Millisecond
)

// Doorbell tells dispatchers that something was committed. It never waits and never fails; a ring may be lost.
type Doorbell struct {
	client redis.UniversalClient
	guard  *Guard
	rung   chan struct{}
	stop   context.CancelFunc
	done   sync.WaitGroup
}

// NewDoorbell starts the one goroutine that rings. Close it before the guard.
func NewDoorbell(client redis.UniversalClient, guard *Guard) *Doorbell {
	ctx, stop := context.WithCancel(context.Background())
	d := &Doorbell{client: client, guard: guard, rung: make(chan struct{}, 1), stop: stop}
	d.done.Go(func() { d.run(ctx) })
	return d
}

// Ring asks for a ring.
func (d *Doorbell) Ring() {
	select {
	case d.rung <- struct{}{}:
	default: // one is asked for already
	}
}

// Close ends the goroutine; a ring that was asked for is lost.
func (d *Doorbell) Close() {
	d.stop()
	d.done.Wait()
}

func (d *Doorbell) run(ctx context.Context) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.rung:
		}
		_ = d.guard.Do(ctx, func(ctx context.Context) error { // a lost ring costs one interval of polling
			return d.client.Publish(ctx, doorbellChannel, "").Err()
		})
		pause.Reset(ringEvery)
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
	}
}

// Listen gives a signal for every ring, several at once being one, until ctx ends; then the channel is closed.
// It subscribes again by itself whenever the connection is lost.
func Listen(ctx context.Context, client redis.UniversalClient) <-chan struct{} {
	out := make(chan struct{}, 1)
	go func() {
		defer close(out)
		subscription := client.Subscribe(ctx, doorbellChannel)
		defer func() { _ = subscription.Close() }() // nothing depends on how it ends
		rings := subscription.Channel(redis.WithChannelSize(1), redis.WithChannelSendTimeout(time.Second))
		for {
			select {
			case <-ctx.Done():
				return
			case _, open := <-rings:
				if !open {
					return
				}
			}
			select {
			case out <- struct{}{}:
			default:
			}
		}
	}()
	return out
}
