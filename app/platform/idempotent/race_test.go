//go:build !unit

package idempotent_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres/groupcommit"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/redistest"
	"partnerdeposits/lab/servicetest"
	ports "partnerdeposits/ports/platform"
)

const (
	raceProcesses = 3
	raceRounds    = 12
	racersEach    = 8 // requests at the same time through each process
	repeatsEach   = 3 // of each process, for each request that has its answer
)

// rivals are several processes of the service over one Postgres and one Redis.
type rivals struct {
	t         *testing.T
	kit       *servicetest.Kit
	redis     *goredis.Client
	processes []*idempotent.Executor
	changes   bool // the effect is a change, not a transaction

	mu     sync.Mutex
	broken map[string]string // promises that were broken, with what happened at last
}

// newRivals starts the processes.
func newRivals(t *testing.T) *rivals {
	t.Helper()
	r := &rivals{t: t, redis: redistest.New(t), broken: map[string]string{}}
	r.kit = servicetest.New(t, func(s *servicetest.Setup) { s.Redis = r.redis })
	for range raceProcesses {
		r.processes = append(r.processes, r.kit.BuildServices(func(p *servicetest.Deps) {
			p.Changes = groupcommit.New(r.kit.Pool, r.kit.Cipher, groupcommit.Options{})
		}).Idempotent)
	}
	return r
}

func (r *rivals) violate(promise, happened string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken[promise] = fmt.Sprintf(happened, args...)
}

// race sends the same new requests through all processes at once and repeats those that are answered. Meanwhile disturb
// runs again and again. The effect of a request is an event.
func (r *rivals) race(disturb func()) {
	r.t.Helper()
	stop := make(chan struct{})
	var disturber sync.WaitGroup
	disturber.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				disturb()
			}
		}
	})
	for round := range raceRounds {
		r.round(byte(round))
	}
	close(stop)
	disturber.Wait()
}

func (r *rivals) round(number byte) {
	before, partner := r.kit.Count("outbox", ""), servicetest.NewID()
	var runs atomic.Int64
	request := func() idempotent.Request {
		made := request(r.t, partner, "1")
		made.Key.Key = [16]byte{number + 1}
		event := ports.Event{ID: servicetest.NewID(), PartnerID: partner, Name: webhook.EventOperatorLinked,
			Data:      []byte("{}"),
			CreatedAt: made.Now}
		response := func() idempotent.Response {
			return idempotent.Response{Code: 201, Body: fmt.Append(nil, runs.Add(1))}
		}
		if r.changes {
			made.Decide = func(ports.FoundRows) (ports.RowsToWrite, idempotent.Response, error) {
				return ports.RowsToWrite{Event: &event}, response(), nil
			}
			return made
		}
		made.Effect = func(ctx context.Context) (idempotent.Response, error) {
			return response(), r.kit.Postgres.Outbox.Append(ctx, event)
		}
		return made
	}
	run := func(process int) (idempotent.Response, error) {
		e, made := r.processes[process%raceProcesses], request()
		e.LookUp(r.t.Context(), made.Key)
		return e.Run(r.t.Context(), made)
	}
	var seen sync.Map // bodies of answers
	start := make(chan struct{})
	var racers sync.WaitGroup
	for i := range raceProcesses * racersEach {
		racers.Go(func() {
			<-start
			first, err := run(i)
			switch {
			case errors.Is(err, ports.ErrIdempotencyKeyInUse):
				return
			case err != nil:
				r.violate("a request is answered, or in use", "%v", err)
				return
			}
			seen.Store(string(first.Body), true)
			var repeats sync.WaitGroup
			for n := range raceProcesses * repeatsEach {
				repeats.Go(func() {
					again, err := run(i + n)
					if err != nil || !again.Replayed {
						r.violate("a repeat of an answered request is a replay", "%v", err)
					}
					if err == nil {
						seen.Store(string(again.Body), true)
					}
				})
			}
			repeats.Wait()
		})
	}
	close(start)
	racers.Wait()
	bodies := 0
	seen.Range(func(any, any) bool { bodies++; return true })
	if bodies != 1 {
		r.violate("all answers are equal", "%d bodies", bodies)
	}
	if made := r.kit.Count("outbox", "") - before; made != 1 {
		r.violate("a key has one effect", "%d effects", made)
	}
	if n := runs.Load(); n != 1 {
		r.violate("the effect runs once", "%d runs", n)
	}
}

// Disturbances of Redis during a race.
var disturbances = map[string]func(*goredis.Client) func(){
	"quiet": func(*goredis.Client) func() {
		return func() { pause(time.Millisecond) }
	},
	"flushed": func(c *goredis.Client) func() {
		return func() { c.FlushDB(context.Background()); pause(time.Millisecond) }
	},
	"away": func(c *goredis.Client) func() {
		_ = c.Close()
		return func() { pause(time.Millisecond) }
	},
	"restored old": func(c *goredis.Client) func() {
		kept := map[string]string{}
		return func() { rewind(c, kept); pause(time.Millisecond) }
	},
}

// rewind puts back what Redis held when kept was filled, and fills kept anew every time that it is empty.
func rewind(c *goredis.Client, kept map[string]string) {
	ctx := context.Background()
	if len(kept) == 0 {
		for _, name := range c.Keys(ctx, "svc:idempotency:*").Val() {
			kept[name] = c.Dump(ctx, name).Val()
		}
		return
	}
	c.FlushDB(ctx)
	for name, value := range kept {
		c.RestoreReplace(ctx, name, 0, value)
		delete(kept, name)
	}
}

func pause(d time.Duration) { <-time.After(d) }

func TestRace_OneEffectPerKey_AndEveryRepeatIsAReplay(t *testing.T) {
	t.Parallel()
	for name, disturb := range disturbances {
		for effect, changes := range map[string]bool{"transaction": false, "change": true} {
			t.Run(name+", "+effect, func(t *testing.T) {
				t.Parallel()
				r := newRivals(t)
				r.changes = changes
				r.race(disturb(r.redis))
				require.Empty(t, r.broken)
			})
		}
	}
}
