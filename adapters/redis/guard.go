package redis

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// patience is how long a request waits for one command. Beyond it Redis is no help.
	patience = 100 * time.Millisecond
	// tolerated is how many commands in a row may fail before Redis is left alone.
	tolerated = 2
	// probeEvery is how often a Redis that is left alone is looked after, in the background.
	probeEvery = 250 * time.Millisecond
)

// ErrAway answers commands while Redis is left alone.
var ErrAway = errors.New("redis: away")

// Guard keeps requests from waiting for a Redis that does not answer: after a few failures commands are no longer
// sent, at no cost, until a ping in the background is answered.
type Guard struct {
	client   redis.UniversalClient
	patience time.Duration
	stop     context.CancelFunc
	ctx      context.Context // the life of the background pings, which no caller's context bounds
	probes   sync.WaitGroup

	mu       sync.Mutex
	failures int
	away     bool
}

// NewGuard makes a guard. Close it before the client.
func NewGuard(client redis.UniversalClient) *Guard {
	ctx, stop := context.WithCancel(context.Background())
	return &Guard{client: client, patience: patience, ctx: ctx, stop: stop}
}

// WithPatience waits d for one command instead of a tenth of a second. Call it before the first command.
func (g *Guard) WithPatience(d time.Duration) *Guard {
	g.patience = d
	return g
}

// Close ends the background pings.
func (g *Guard) Close() {
	g.stop()
	g.probes.Wait()
}

// Do runs command for patience at most, whatever the deadline of ctx; that its caller has gone does not end it, so that
// a mark is not left behind. redis.Nil is an answer like others.
//
// Returns ErrAway at once while Redis is left alone, and what command returns.
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

// answered tells whether Redis said something, if only that the command was wrong.
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

// probe pings until Redis answers.
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
