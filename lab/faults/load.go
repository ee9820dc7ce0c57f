package main

import (
	"context"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"partnerdeposits/core/id"
	generator "partnerdeposits/lab/load"
)

// contractPrefix begins the rentalContract of the load's deposits; the number of the deposit follows.
const contractPrefix = "F-"

// change is a requested change of a deposit and its outcome.
type change struct {
	number   uint64
	deposit  id.ID
	owner    *testPartner
	want     status
	begun    time.Time
	answered time.Time // time of the 200; zero: outcome unknown, or no change
}

// load creates deposits and changes them through the API at a steady rate, whatever happens to the service.
type load struct {
	world  *world
	bases  []string // of the http processes
	client client
	from   string // of every stay, the same for the whole run: a repeated request must have the same body
	to     string
	ctx    context.Context //nolint:containedctx // from start to stop
	cancel context.CancelFunc
	group  sync.WaitGroup

	next     atomic.Uint64
	accepted atomic.Int64 // changes answered with 200

	mu      sync.Mutex
	changes []change
}

func newLoad(w *world) *load {
	l := &load{world: w, client: newClient()}
	l.from, l.to = rentalPeriod(time.Now())
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// workers bounds the API requests in flight.
const workers = 24

// start begins the load at rate changes per second.
func (l *load) start(rate int) {
	l.group.Go(func() { generator.Steady(l.ctx, rate, workers, l.work) })
}

// work changes deposits that it has just created.
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
		if !l.mail(c) || !l.move(c) {
			return
		}
	}
}

// stop ends the load and waits for the requests in flight.
func (l *load) stop() {
	l.cancel()
	l.group.Wait()
}

// dice is the source of random numbers for a deposit.
func (l *load) dice(number uint64) *rand.Rand {
	return rand.New(rand.NewPCG(l.world.o.seed, number)) //nolint:gosec // repeatable on purpose
}

func (l *load) partnerOf(dice *rand.Rand) *testPartner {
	const percent = 100
	at := dice.IntN(percent)
	for _, t := range l.world.partners {
		if at -= t.share; at < 0 {
			return t
		}
	}
	return l.world.partners[0]
}

// Statuses that the load requests.
const (
	cancelled status = "cancelled"
	active    status = "active"
	captured  status = "captured"
	closed    status = "close"
)

// plan gives the n-th change. Of twelve deposits one is secured and expires later, and one is captured as soon as it is
// secured. The others are cancelled.
func (l *load) plan(number uint64) change {
	dice := l.dice(number)
	c := change{number: number, owner: l.partnerOf(dice), want: cancelled}
	switch dice.IntN(12) {
	case 0:
		c.want = active
	case 1:
		c.want = captured
	}
	return c
}

// create creates a deposit under a single idempotency key and repeats the request until an answer arrives. ok is false
// when the load ends first.
func (l *load) create(number uint64) (c change, ok bool) {
	c = l.plan(number)
	body := `{"accountId":"` + id.Account.Of(c.owner.account) + `","amount":500,"contractStartAt":"` + l.from + `",` +
		`"contractEndAt":"` + l.to + `","rentalContract":"` + contractPrefix + strconv.FormatUint(number, 10) + `"}`
	answer, ok := l.insist(c, "/deposits", uuidOf(l.world.o.seed, number, 0), body)
	c.deposit, _ = id.Deposit.Parse(answer.depositID())
	return c, ok && !c.deposit.IsZero()
}

// move requests the change. A cancellation with an unknown outcome is mostly repeated under the same key, and sometimes
// abandoned, as real callers do. The audit then looks the deposit up.
func (l *load) move(c change) (ok bool) {
	if c.want == captured {
		return l.capture(c)
	}
	c.begun = time.Now()
	key := uuidOf(l.world.o.seed, c.number, 1)
	path, body := "/deposits/"+id.Deposit.Of(c.deposit)+"/cancel", `{}`
	if c.want == active {
		path, body, key = "/test/deposits/"+id.Deposit.Of(c.deposit)+"/simulate", `{"outcome":"activate"}`, ""
	}
	const abandonEvery = 4 // a quarter of such requests
	if key == "" || l.dice(c.number).IntN(abandonEvery) == 0 {
		a := l.client.post(l.ctx, l.base(c.number), c.owner.key, path, key, body)
		l.note(c, a)
		return l.ctx.Err() == nil
	}
	a, ok := l.insist(c, path, key, body)
	l.note(c, a)
	return ok
}

// capture secures a deposit and captures it at once through another process, so that two processes make its events. A cover that
// has elapsed meanwhile is no violation.
func (l *load) capture(c change) (ok bool) {
	path := "/deposits/" + id.Deposit.Of(c.deposit)
	secured := c
	secured.want, secured.begun = active, time.Now()
	a := l.client.post(l.ctx, l.base(c.number), c.owner.key, "/test"+path+"/simulate", "", `{"outcome":"activate"}`)
	l.note(secured, a)
	if !a.ok() {
		return l.ctx.Err() == nil
	}
	c.begun = time.Now()
	a, ok = l.insist(change{number: c.number + 1, owner: c.owner}, path+"/capture", uuidOf(l.world.o.seed, c.number, 2), `{"reason":"damage"}`)
	l.note(c, a)
	return ok
}

func (l *load) note(c change, a answer) {
	if a.ok() {
		c.answered = time.Now()
		l.accepted.Add(1)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changes = append(l.changes, c)
}

// insist repeats a request until an answer settles its outcome. A refusal is a violation: every request of the load is
// valid.
func (l *load) insist(c change, path, key, body string) (answer, bool) {
	const patience = 2 * time.Minute
	deadline := time.Now().Add(patience)
	for try := uint64(0); ; try++ {
		a := l.client.post(l.ctx, l.base(c.number+try), c.owner.key, path, key, body)
		if a.ok() {
			return a, true
		}
		if a.elapsed() {
			return a, true
		}
		if !a.unknown() {
			l.world.receipts.violate("refused", "%s was answered %d %s", path, a.status, a.body)
			return a, true
		}
		if time.Now().After(deadline) {
			l.world.receipts.violate("unavailable", "%s was not answered within %v: %v %d %s", path, patience, a.err, a.status, a.body)
			return a, true
		}
		const first, most = 20 * time.Millisecond, 500 * time.Millisecond
		timer := time.NewTimer(min(first<<min(try, 5), most))
		select {
		case <-l.ctx.Done():
			timer.Stop()
			return a, false
		case <-timer.C:
		}
	}
}

func (l *load) base(n uint64) string { return l.bases[n%uint64(len(l.bases))] }

// made gives all changes that were requested.
func (l *load) made() []change {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]change(nil), l.changes...)
}
