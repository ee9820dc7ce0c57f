package redis

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	doorbellChannel = "svc:doorbell"
	// ringEvery is the least time between two PUBLISH commands, so that a burst of commits sends a single ring. Commits
	// after a ring get a ring of their own, because a relay reads the outbox only once per ring.
	ringEvery = 5 * time.Millisecond
)

// Doorbell tells dispatchers that events were committed. Ringing never waits and never fails; a ring may be lost.
type Doorbell struct {
	client  redis.UniversalClient
	breaker *Breaker
	rung    chan struct{}
	stop    context.CancelFunc
	done    sync.WaitGroup
}

// NewDoorbell starts the goroutine that rings. Close the doorbell before the breaker.
func NewDoorbell(client redis.UniversalClient, breaker *Breaker) *Doorbell {
	ctx, stop := context.WithCancel(context.Background())
	d := &Doorbell{client: client, breaker: breaker, rung: make(chan struct{}, 1), stop: stop}
	d.done.Go(func() { d.run(ctx) })
	return d
}

// Ring requests a ring.
func (d *Doorbell) Ring() {
	select {
	case d.rung <- struct{}{}:
	default: // a ring is requested already
	}
}

// Close ends the goroutine and loses a requested ring.
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
		_ = d.breaker.Do(ctx, func(ctx context.Context) error { // a lost ring costs an interval of polling
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

// Listen signals rings until ctx ends, then closes the channel. Several rings at once give a single signal. A lost
// connection is subscribed again.
func Listen(ctx context.Context, client redis.UniversalClient) <-chan struct{} {
	out := make(chan struct{}, 1)
	go func() {
		defer close(out)
		subscription := client.Subscribe(ctx, doorbellChannel)
		defer func() { _ = subscription.Close() }() // the outcome of closing is irrelevant
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
