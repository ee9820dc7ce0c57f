package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"partnerdeposits/lab/formbrowser"
	"partnerdeposits/lab/receiver"
	"partnerdeposits/lab/stripetest"
)

// moneyRun is a run against a fake of the payment provider: tenants pay, partners cancel and capture, and processes are
// killed around each call to the provider, whose answers are lost, late, doubled, or 500.
type moneyRun struct {
	*suite
	transport http.RoundTripper // of the tenants' browsers
	next      atomic.Uint64
	captured  atomic.Int64
	refunds   atomic.Int64 // that staff asked for
	ended     atomic.Int64 // collections that were seen to end
	failing   atomic.Int64 // requests to the provider that went wrong
	dice      *rand.Rand   // of the provider's faults; guarded by suite.mu
	found     counts       // by the audit
}

// Tenants and partners at once. Each waits for answers most of the time.
const stays = 16

// partnerHost is the host of the partner's site, where tenants end who have paid.
const partnerHost = "partner.test"

// openProvider starts a fake of the payment provider, if the run needs one. Its notices come late, twice and in the
// opposite order.
func (w *suite) openProvider(context.Context) error {
	if !w.o.money {
		return nil
	}
	notices, end, err := receiver.Listen(http.HandlerFunc(w.takeNotice))
	if err != nil {
		return err
	}
	w.Cleanup(end)
	w.fake = stripetest.New(stripetest.Options{Webhooks: notices + "/webhooks/payments/stripe"})
	w.Cleanup(w.fake.Close)
	api := w.fake.Handler()
	if w.variant.stripe != nil {
		api = w.variant.stripe(api)
	}
	address, end, err := receiver.Listen(api)
	if err != nil {
		return err
	}
	w.Cleanup(end)
	w.fake.SetURL(address)
	w.fake.Deliver(stripetest.Delivery{Delay: 300 * ms, Twice: true, Reversed: true})
	return nil
}

// takeNotice hands a notice of the provider to an http process that answers, as a load balancer does.
func (w *suite) takeNotice(out http.ResponseWriter, r *http.Request) {
	notice, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if w.variant.notices != nil && w.variant.notices(w, notice) {
		out.WriteHeader(http.StatusNoContent)
		return
	}
	w.mu.Lock()
	bases := slices.Clone(w.load.bases)
	w.mu.Unlock()
	for _, base := range bases {
		request, err := http.NewRequestWithContext(r.Context(), r.Method, base+r.URL.Path, bytes.NewReader(notice))
		if err != nil {
			continue
		}
		request.Header = r.Header.Clone()
		if response, err := w.load.client.Client.Do(request); err == nil {
			_ = response.Body.Close()
			out.WriteHeader(response.StatusCode)
			return
		}
	}
	out.WriteHeader(http.StatusBadGateway)
}

// runMoney runs tenants against the sound service. dir has the commands.
func runMoney(ctx context.Context, o options, dir string) (r *moneyRun, err error) {
	o.money = true
	err = inSuite(ctx, o, dir, sound, func(w *suite) error {
		r = newMoneyRun(w)
		return r.run(ctx)
	})
	return r, err
}

// runMoneyVariants runs each broken variant of payments, and fails unless the audit finds the mistake of each. dir is
// the folder of the built commands.
func runMoneyVariants(ctx context.Context, o options, dir string) error {
	o.money = true
	return tryAll(ctx, o, dir, moneyVariants, 1, func(ctx context.Context, w *suite) (int, string, error) {
		err := newMoneyRun(w).run(ctx)
		kinds, first := len(w.receipts.violations), w.receipts.first("money", "two payable")
		return kinds, fmt.Sprintf("%d kinds of violations after %d kills: %.300q", kinds, w.killed(), first), err
	})
}

func newMoneyRun(w *suite) *moneyRun {
	shared := &http.Transport{IdleConnTimeout: 3 * time.Second, MaxIdleConnsPerHost: stays}
	return &moneyRun{
		suite: w, found: counts{},
		transport: formbrowser.Site{RoundTripper: formbrowser.Elsewhere{RoundTripper: shared},
			Origin: "https://" + partnerHost},
		dice: rand.New(rand.NewPCG(w.o.seed, 5)), //nolint:gosec // repeatable on purpose
	}
}

// run lets tenants pay until the processes were killed often enough, and compares the books of the provider with the
// database. A variant that is caught ends earlier.
func (r *moneyRun) run(ctx context.Context) error {
	r.fake.FailBy(r.fault)
	live, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	for range stays {
		group.Go(func() { r.work(live) })
	}
	err := r.killAround(ctx)
	stop()
	group.Wait()
	if err == nil && (r.variant.isSound() || !r.wrong()) {
		r.fake.FailBy(nil)
		if err = r.settle(ctx); err == nil {
			r.load.stop()
			err = r.audit(ctx)
		}
	}
	for _, step := range r.fake.Violations() {
		r.receipts.violate("two payable", "%s", step)
	}
	return err
}

// work takes a stay after another through its story.
func (r *moneyRun) work(ctx context.Context) {
	for ctx.Err() == nil {
		number := r.next.Add(1)
		s := &stay{moneyRun: r, change: change{number: number, owner: r.partners[0]}, dice: r.load.dice(number)}
		if err := s.live(ctx); err != nil && ctx.Err() == nil {
			r.receipts.violate("money", "stay %d: %v", number, err)
		}
	}
}

// fault draws the failure of a request to the provider: a tenth of them goes wrong.
func (r *moneyRun) fault(string, string) *stripetest.Fault {
	kinds := []stripetest.FaultKind{
		stripetest.LostBefore, stripetest.LostAfter, stripetest.TakesLate, stripetest.Delayed, stripetest.Broken,
		stripetest.BrokenDone, stripetest.Doubled, stripetest.Overloaded, stripetest.Unready,
	}
	const every = 10
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dice.IntN(every) != 0 {
		return nil
	}
	r.failing.Add(1)
	return &stripetest.Fault{Kind: kinds[r.dice.IntN(len(kinds))], Delay: between(r.dice, 20*ms, 1500*ms)}
}

// killAround kills processes at the failpoints of payments, until each was reached often enough. A short run has a
// quarter of the failpoints.
func (r *moneyRun) killAround(ctx context.Context) error {
	dice := rand.New(rand.NewPCG(r.o.seed, 6)) //nolint:gosec // repeatable on purpose
	var all []point
	for i, p := range moneyPoints {
		if !r.o.short || i%4 == 0 {
			all = append(all, slices.Repeat([]point{p}, r.o.hits)...)
		}
	}
	wanted := slices.Clone(all)
	for round := 0; len(wanted) > 0 && round < 4; round++ {
		dice.Shuffle(len(wanted), func(i, j int) { wanted[i], wanted[j] = wanted[j], wanted[i] })
		for part := range slices.Chunk(wanted, stormSize) {
			err := r.untilWrong(ctx, func(ctx context.Context) error {
				return errors.Join(r.storm(ctx, part, dice), r.awaitNodes(ctx))
			})
			if err = errors.Join(err, r.auditAttempts(ctx)); err != nil {
				return err
			}
			r.o.logf("money: %d kills, %d stays, %d captured, %d collections ended", r.killed(), r.next.Load(),
				r.captured.Load(), r.ended.Load())
			if r.wrong() {
				return nil
			}
		}
		wanted = r.missing(all)
	}
	r.violateMissing(wanted)
	return nil
}

// wrong tells whether something went wrong already.
func (r *moneyRun) wrong() bool {
	return r.receipts.count("money") > 0 || len(r.fake.Violations()) > 0
}

// untilWrong runs do, and cuts it short once something went wrong: the kills that are left teach nothing more.
func (r *moneyRun) untilWrong(ctx context.Context, do func(context.Context) error) error {
	storm, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		for pause(storm, 100*ms) == nil {
			if r.wrong() {
				stop()
			}
		}
	}()
	if err := do(storm); err != nil && !r.wrong() {
		return err
	}
	return ctx.Err()
}

func (r *moneyRun) print(out io.Writer) {
	p := lines(out)
	p("kills", "%d at %d failpoints (%s); %d requests to the provider went wrong", r.killed(), len(r.hits),
		fewest(r.hits), r.failing.Load())
	for _, label := range slices.Sorted(maps.Keys(r.hits)) {
		p("", "%3d × %s", r.hits[label], label)
	}
	p("money", "%v", r.found)
	p("took", "%v, seed %d", time.Since(r.began).Round(time.Second), r.o.seed)
	r.receipts.print(out)
}
