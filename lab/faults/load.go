package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"partnerdeposits/core/id"
	generator "partnerdeposits/lab/load"
	"partnerdeposits/lab/world"
)

// contractPrefix begins the rentalContract of every deposit of the load; the deposit's number follows.
const contractPrefix = "F-"

// change is a status change of a deposit that the load has requested, and its outcome.
type change struct {
	number  uint64
	deposit id.ID
	owner   *world.Partner
	want    status
	// Time of the 200 answer; zero: an unknown outcome, or no change.
	answered time.Time
}

// load creates and changes deposits through the API at a steady rate, whatever happens to the service.
type load struct {
	suite  *suite
	bases  []string
	owners []*world.Partner // The partners, each as often as its share in the load.
	client *world.APIClient
	// The stay as JSON fields, the same for the whole run, since a repeated request must have the same body.
	stay   string
	ctx    context.Context //nolint:containedctx // until stop
	cancel context.CancelFunc
	group  sync.WaitGroup

	next     atomic.Uint64
	accepted atomic.Int64 // Changes that the API answered with 200.

	mu      sync.Mutex
	changes []change
}

func newLoad(w *suite) *load {
	l := &load{suite: w, client: world.NewAPIClient(15*time.Second, 2*workers)}
	// The stay is in the future, so that its cover does not end while payments are made.
	now, day := time.Now().UTC(), 24*time.Hour
	l.stay = fmt.Sprintf(`"contractStartAt":%q,"contractEndAt":%q`, now.Add(2*day).Format(time.RFC3339),
		now.Add(9*day).Format(time.RFC3339))
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// workers is the largest number of API requests in flight.
const workers = 24

// start begins the load with the given number of changes per second, also again after stop.
func (l *load) start(rate int) {
	l.cancel()
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.group.Go(func() { generator.RunSteadyLoop(l.ctx, rate, workers, l.work) })
}

// work creates deposits and requests their changes, until next returns false.
func (l *load) work(next func() bool) {
	const ahead = 4
	var made []change
	for next() {
		c, ok := l.create(l.next.Add(1))
		if !ok {
			return
		}
		if made = append(made, c); len(made) <= ahead {
			continue
		}
		c, made = made[0], made[1:]
		if !l.move(c) {
			return
		}
	}
}

// stop waits for the answers to requests in flight: the service would otherwise commit their changes after the
// audit.
func (l *load) stop() {
	l.cancel()
	l.group.Wait()
}

// dice returns a deposit's source of random numbers.
func (l *load) dice(number uint64) *rand.Rand {
	return rand.New(rand.NewPCG(l.suite.o.seed, number)) //nolint:gosec // repeatable on purpose
}

// The statuses that the load requests or waits for.
const (
	cancelled status = "cancelled"
	active    status = "active"
	captured  status = "captured"
	closed    status = "close"
)

// create creates a deposit. Of twelve, one is secured and expires later, one is captured as soon as it is secured,
// and the others are cancelled. ok is false if the load ended first.
func (l *load) create(number uint64) (c change, ok bool) {
	dice := l.dice(number)
	c = change{number: number, owner: l.owners[dice.IntN(len(l.owners))], want: cancelled}
	switch dice.IntN(12) {
	case 0:
		c.want = active
	case 1:
		c.want = captured
	}
	a, ok := l.request(c, "")
	c.deposit, _ = id.Deposit.Parse(a.DataID())
	return c, ok && !c.deposit.IsZero()
}

// request repeats the POST of a deposit, with the same idempotency key, until an answer arrives. more is appended
// JSON.
func (l *load) request(c change, more string) (a world.APIResponse, ok bool) {
	body := fmt.Sprintf(`{"accountId":%q,"amount":500,%s,"rentalContract":"%s%d"%s}`, id.Account.Of(c.owner.Account),
		l.stay, contractPrefix, c.number, more)
	return l.insist(c, "/deposits", l.key(c.number, 0), body)
}

// move requests a deposit's change of status, and repeats it under its idempotency key unless it secures. A
// deposit is secured and captured through different processes, so that its events come from two.
func (l *load) move(c change) (ok bool) {
	path := "/deposits/" + id.Deposit.Of(c.deposit)
	if c.want == cancelled {
		a, ok := l.insist(c, path+"/cancel", l.key(c.number, 1), `{}`)
		l.note(c, a)
		return ok
	}
	secured := c
	secured.want = active
	a := l.client.Do(context.WithoutCancel(l.ctx), world.APICall{Base: l.base(c.number), APIKey: c.owner.Key,
		Path: "/test" + path + "/simulate", Body: `{"outcome":"activate"}`})
	l.note(secured, a)
	if c.want == active || !a.OK() {
		return l.ctx.Err() == nil
	}
	other := change{number: c.number + 1, owner: c.owner}
	a, ok = l.insist(other, path+"/capture", l.key(c.number, 2), `{"reason":"damage"}`)
	l.note(c, a)
	return ok
}

// ask repeats an API call, each time at the next process, until the answer is known or the time is over.
func (l *load) ask(ctx context.Context, number uint64, c world.APICall) (a world.APIResponse) {
	const first, most = 20 * time.Millisecond, 500 * time.Millisecond
	end := time.Now().Add(askPatience)
	for try := uint64(0); ; try++ {
		c.Base = l.base(number + try)
		a = l.client.Do(context.WithoutCancel(ctx), c)
		if !a.OutcomeUnknown() || time.Now().After(end) || world.Sleep(ctx, min(first<<min(try, 5), most)) != nil {
			return a
		}
	}
}

const askPatience = 2 * time.Minute

func (l *load) note(c change, a world.APIResponse) {
	if a.OK() {
		c.answered = time.Now()
		l.accepted.Add(1)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changes = append(l.changes, c)
}

// insist repeats an API request until its outcome is settled. A refusal is a violation. ok is false if the load
// ended first.
func (l *load) insist(c change, path, key, body string) (a world.APIResponse, ok bool) {
	a = l.ask(l.ctx, c.number, world.APICall{APIKey: c.owner.Key, Path: path, Key: key, Body: body})
	switch {
	// A 409 is no error: a capture may come after the end of the deposit's cover.
	case a.OK(), a.HasErrorCode(http.StatusConflict, "deposit_not_capturable"):
	case l.ctx.Err() != nil:
		return a, false
	case a.OutcomeUnknown():
		l.suite.receipts.violate("unavailable", "%s was not answered within %v: %v %d %s", path, askPatience, a.Err,
			a.Status, a.Body)
	default:
		l.suite.receipts.violate("refused", "%s was answered %d %s", path, a.Status, a.Body)
	}
	return a, true
}

// key returns an idempotency key, which depends only on the seed, the deposit's number and the step.
func (l *load) key(number uint64, step byte) string {
	const version = 4
	name := fmt.Appendf(nil, "%d %d %d", l.suite.o.seed, number, step)
	return uuid.NewHash(sha256.New(), uuid.Nil, name, version).String()
}

func (l *load) base(n uint64) string { return l.bases[n%uint64(len(l.bases))] }
