package redis

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// patience bounds the time that a request waits for a command.
	patience = 100 * time.Millisecond
	// tolerated is the number of consecutive failures after which the breaker opens.
	tolerated = 2
	// probeEvery is the interval of background pings while the breaker is open.
	probeEvery = 250 * time.Millisecond
)

// ErrAway is the result of every command while the breaker is open.
var ErrAway = errors.New("redis: away")

// Breaker is a circuit breaker: after a few failures it refuses commands at once, until a background ping is answered.
// Requests therefore never queue for a Redis that does not answer.
type Guard struct {
	client   redis.UniversalClient
	patience time.Duration
	stop     context.CancelFunc
	ctx      context.Context // bounds the background pings, which belong to no caller
	probes   sync.WaitGroup

	mu       sync.Mutex
	failures int
	away     bool
}

// NewBreaker makes a closed breaker. Close the breaker before the client.
func NewGuard(client redis.UniversalClient) *Guard {
	ctx, stop := context.WithCancel(context.Background())
	return &Guard{client: client, patience: patience, ctx: ctx, stop: stop}
}

// WithPatience bounds a command by d instead of a tenth of a second. Call it before the first command.
func (g *Guard) WithPatience(d time.Duration) *Guard {
	g.patience = d
	return g
}

// Close ends the background pings.
func (g *Guard) Close() {
	g.stop()
	g.probes.Wait()
}

// Do runs command for patience at most, whatever the deadline of ctx. A cancelled caller does not cancel the command,
// so that no mark is left behind. redis.Nil counts as success.
//
// Returns ErrAway at once while the breaker is open, and otherwise the result of command.
func (g *Guard) Do(ctx context.Context, command func(ctx context.Context) error) error {
	g.mu.Lock()
	away := g.away
	g.mu.Unlock()
	if away {
		return ErrAway
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), g.patience)
	defer cancel()
	err := command(ctx)
	g.note(answered(err))
	return err
}

// answered tells whether Redis answered, even with an error.
func answered(err error) bool {
	var reply redis.Error
	return err == nil || errors.As(err, &reply)
}

func (g *Guard) note(ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if ok {
		g.failures = 0
		return
	}
	g.failures++
	if g.failures >= tolerated && !g.away && g.ctx.Err() == nil {
		g.away = true
		g.probes.Go(g.probe)
	}
}

// probe pings until Redis answers, then closes the breaker.
func (g *Guard) probe() {
	ticker := time.NewTicker(probeEvery)
	defer ticker.Stop()
	for {
		select {
		case <-g.ctx.Done():
			return
		case <-ticker.C:
		}
		ctx, cancel := context.WithTimeout(g.ctx, dialTimeout+ioTimeout)
		err := g.client.Ping(ctx).Err()
		cancel()
		if answered(err) {
			g.mu.Lock()
			g.away, g.failures = false, 0
			g.mu.Unlock()
			return
		}
	}
}
