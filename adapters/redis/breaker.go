package redis

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// patience bounds the time that a request waits for a Redis command.
	patience = 100 * time.Millisecond
	// tolerated is the number of consecutive failed Redis commands after which the circuit breaker opens.
	tolerated = 2
	// probeEvery is the interval of background pings to Redis while the circuit breaker is open.
	probeEvery = 250 * time.Millisecond
)

// ErrBreakerOpen is the error of every Redis command while the circuit breaker is open, since Redis did not answer the
// last ones.
var ErrBreakerOpen = errors.New("redis: away")

// Breaker is a circuit breaker for Redis commands: after a few failures it refuses commands at once, until Redis
// answers a background ping.
type Breaker struct {
	client   redis.UniversalClient
	patience time.Duration
	stop     context.CancelFunc
	ctx      context.Context
	probes   sync.WaitGroup

	mu       sync.Mutex
	failures int
	away     bool
}

func NewBreaker(client redis.UniversalClient) *Breaker {
	ctx, stop := context.WithCancel(context.Background())
	return &Breaker{client: client, patience: patience, ctx: ctx, stop: stop}
}

// WithCommandTimeout sets how long a Redis command may take; the default is a tenth of a second. Call it before the
// first command.
func (b *Breaker) WithCommandTimeout(d time.Duration) *Breaker {
	b.patience = d
	return b
}

func (b *Breaker) Close() {
	b.stop()
	b.probes.Wait()
}

// Do runs a Redis command for the breaker's patience at most, whatever the deadline of ctx. redis.Nil (no such
// key) counts as success. Returns ErrBreakerOpen at once while the breaker is open.
func (b *Breaker) Do(ctx context.Context, command func(ctx context.Context) error) error {
	b.mu.Lock()
	away := b.away
	b.mu.Unlock()
	if away {
		return ErrBreakerOpen
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.patience)
	defer cancel()
	err := command(ctx)
	b.note(answered(err))
	return err
}

// answered reports whether Redis answered a command, even with an error, rather than a failed connection or a
// timeout.
func answered(err error) bool {
	var reply redis.Error
	return err == nil || errors.As(err, &reply)
}

func (b *Breaker) note(ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if ok {
		b.failures = 0
		return
	}
	b.failures++
	if b.failures >= tolerated && !b.away && b.ctx.Err() == nil {
		b.away = true
		b.probes.Go(b.probe)
	}
}

func (b *Breaker) probe() {
	ticker := time.NewTicker(probeEvery)
	defer ticker.Stop()
	for {
		select {
		case <-b.ctx.Done():
			return
		case <-ticker.C:
		}
		ctx, cancel := context.WithTimeout(b.ctx, dialTimeout+ioTimeout)
		err := b.client.Ping(ctx).Err()
		cancel()
		if answered(err) {
			b.mu.Lock()
			b.away, b.failures = false, 0
			b.mu.Unlock()
			return
		}
	}
}
