package main

import (
	"context"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"partnerdeposits/core/id"
)

// contractPrefix begins the rentalContract of the load's deposits; the number of the deposit follows.
const contractPrefix = "F-"

// change is one wish of the load to move a deposit, and what was answered.
type change struct {
	number   uint64
	deposit  id.ID
	tenancy  *tenancy
	want     status
	begun    time.Time
	answered time.Time // of the 200; zero: the outcome is not known, or nothing happened
}

// load creates deposits and moves them through the API at a steady rate, whatever becomes of the service.
type load struct {
	world  *world
	bases  []string // of the http processes
	client client
	ctx    context.Context //nolint:containedctx // the load's own life, from start to stop
	cancel context.CancelFunc
	group  sync.WaitGroup

	next     atomic.Uint64
	accepted atomic.Int64 // answered 200

	mu      sync.Mutex
	changes []change
}

func newLoad(w *world) *load {
	l := &load{world: w, client: newClient()}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// workers is how many requests are under way at most.
const workers = 24

// start begins the load at rate changes a second.
func (l *load) start(rate int) {
	places := make(chan struct{}, rate) // what an outage holds up for a second is caught up with
	l.group.Go(func() { l.pace(rate, places) })
	for range workers {
		l.group.Go(func() { l.work(places) })
	}
}

func (l *load) pace(rate int, places chan<- struct{}) {
	defer close(places)
	ticker := time.NewTicker(time.Second / time.Duration(rate))
	defer ticker.Stop()
	for {
		select {
		case <-l.ctx.Done():
			return
		case <-ticker.C:
		}
		select {
		case places <- struct{}{}:
		default:
		}
	}
}

// work moves deposits that were created a moment before.
func (l *load) work(places <-chan struct{}) {
	const ahead = 4
	var made []change
	for range places {
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

// stop ends the load and waits for what is under way.
func (l *load) stop() {
	l.cancel()
	l.group.Wait()
}

// dice are the load's for one deposit.
func (l *load) dice(number uint64) *rand.Rand {
	return rand.New(rand.NewPCG(l.world.o.seed, number)) //nolint:gosec // repeatable on purpose
}

func (l *load) tenancyOf(dice *rand.Rand) *tenancy {
	const percent = 100
	at := dice.IntN(percent)
	for _, t := range l.world.tenancies {
		if at -= t.share; at < 0 {
			return t
		}
	}
	return l.world.tenancies[0]
}

// statuses that the load moves deposits to.
const (
	cancelled status = "cancelled"
	active    status = "active"
	closed    status = "close"
)

// plan gives the change number n. One deposit in 12 is secured, and expires by itself later; the others are cancelled.
func (l *load) plan(number uint64) change {
	dice := l.dice(number)
	c := change{number: number, tenancy: l.tenancyOf(dice), want: cancelled}
	if dice.IntN(12) == 0 {
		c.want = active
	}
	return c
}

// create makes a deposit under one idempotency key, asking until there is an answer. ok is false when the load ends.
func (l *load) create(number uint64) (c change, ok bool) {
	c = l.plan(number)
	body := `{"accountId":"` + id.Account.Of(c.tenancy.account) + `","amount":500,"contractStartAt":"2026-07-01T12:00:00Z",` +
		`"contractEndAt":"2026-07-08T12:00:00Z","rentalContract":"` + contractPrefix + strconv.FormatUint(number, 10) + `"}`
	answer, ok := l.insist(c, "/deposits", uuidOf(l.world.o.seed, number, 0), body)
	c.deposit, _ = id.Deposit.Parse(answer.depositID())
	return c, ok && !c.deposit.IsZero()
}

// move asks for the change. Where the outcome of a cancellation is not known, the load mostly asks again under the same
// key, and sometimes leaves it at that, as callers do; the final count looks the deposit up.
func (l *load) move(c change) (ok bool) {
	c.begun = time.Now()
	key := uuidOf(l.world.o.seed, c.number, 1)
	path, body := "/deposits/"+id.Deposit.Of(c.deposit)+"/cancel", `{}`
	if c.want == active {
		path, body, key = "/test/deposits/"+id.Deposit.Of(c.deposit)+"/simulate", `{"outcome":"activate"}`, ""
	}
	const givesUp = 4 // one in
	if key == "" || l.dice(c.number).IntN(givesUp) == 0 {
		a := l.client.post(l.ctx, l.base(c.number), c.tenancy.key, path, key, body)
		l.note(c, a)
		return l.ctx.Err() == nil
	}
	a, ok := l.insist(c, path, key, body)
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

// insist asks until there is an answer that settles the request. Refusals are violations: nothing here deserves one.
func (l *load) insist(c change, path, key, body string) (answer, bool) {
	const patience = 2 * time.Minute
	deadline := time.Now().Add(patience)
	for try := uint64(0); ; try++ {
		a := l.client.post(l.ctx, l.base(c.number+try), c.tenancy.key, path, key, body)
		if a.ok() {
			return a, true
		}
		if !a.unknown() {
			l.world.ledger.violate("refused", "%s was answered %d %s", path, a.status, a.body)
			return a, true
		}
		if time.Now().After(deadline) {
			l.world.ledger.violate("unavailable", "%s was not answered within %v: %v %d %s", path, patience, a.err, a.status, a.body)
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

// made gives all changes that were asked for.
func (l *load) made() []change {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]change(nil), l.changes...)
}
