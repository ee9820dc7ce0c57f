package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"partnerdeposits/lab/receiver"
	"partnerdeposits/lab/stripetest"
)

// moneyRun is a run against a fake of the payment provider: tenants pay, partners cancel and capture, and processes are
// killed around each call to the provider, whose answers are lost, late, doubled, or 500.
type moneyRun struct {
	suite     *suite
	fake      *stripetest.Fake
	transport http.RoundTripper // of the tenants' browsers
	next      atomic.Uint64
	captured  atomic.Int64
	refunds   atomic.Int64 // that staff asked for
	ended     atomic.Int64 // collections that were seen to end
	failing   atomic.Int64 // requests to the provider that went wrong

	mu   sync.Mutex
	dice *rand.Rand // of the provider's faults
}

// money is the environment of a run with a payment provider.
func (w *suite) money() []string {
	if w.o.provider == "" {
		return nil
	}
	return []string{
		"PAYMENTS_PROVIDER=stripe", "STRIPE_API_BASE=" + w.o.provider, "STRIPE_SECRET_KEY=" + stripetest.SecretKey,
		"STRIPE_WEBHOOK_SECRET=" + stripetest.WebhookSecret,
		"COLLECTION_RETRY_SCHEDULE=0s,2s,4s", "TRUSTED_PROXIES=127.0.0.1",
	}
}

// coverage is how long a deposit is covered. Without a payment provider, secured deposits expire during the run.
func (w *suite) coverage() string {
	if w.o.provider == "" {
		return "2s"
	}
	return "1440h"
}

// Tenants and partners at once. Each waits for answers most of the time.
const stays = 16

// runPayments runs tenants against the sound service, or against each broken variant, which must be caught.
func runPayments(ctx context.Context, o options, teeth bool) error {
	dir, err := os.MkdirTemp("", "faults")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := build(ctx, o, dir); err != nil {
		return err
	}
	if teeth {
		return runMoneyVariants(ctx, o, dir)
	}
	began := time.Now()
	r, found, err := runMoney(ctx, o, dir, sound)
	if r != nil {
		r.print(os.Stdout, found)
	}
	if err != nil {
		return err
	}
	fmt.Printf("%-18s %v, seed %d\n", "took", time.Since(began).Round(time.Second), o.seed)
	if len(r.suite.receipts.violations) > 0 {
		return errViolated
	}
	return nil
}

// runMoneyVariants demands that each variant is caught. dir has the commands.
func runMoneyVariants(ctx context.Context, o options, dir string) error {
	return trials(moneyVariants, 1, func(v variant) error {
		r, _, err := runMoney(ctx, o, dir, v)
		if err != nil {
			return err
		}
		w := r.suite
		for _, step := range r.fake.Violations() {
			w.receipts.violate("two payable", "%s", step)
		}
		kinds, first := len(w.receipts.violations), w.receipts.first("money", "two payable")
		o.logf("%-24s %d kinds of violations after %d kills: %.300q", v, kinds, w.killed(), first)
		return w.verdict(kinds, int(r.next.Load()))
	})
}

// runMoney lets tenants pay until the processes were killed o.kills times, and compares the books of the provider with
// the database.
func runMoney(ctx context.Context, o options, dir string, v variant) (r *moneyRun, found moneyTally, err error) {
	balancer := &balancer{}
	notices, end, err := receiver.Listen(balancer)
	if err != nil {
		return nil, found, err
	}
	defer end()
	fake := stripetest.New(stripetest.Options{Webhooks: notices + "/webhooks/payments/stripe"})
	defer fake.Close()
	api := fake.Handler()
	if v.stripe != nil {
		api = v.stripe(api)
	}
	var endAPI func()
	if o.provider, endAPI, err = receiver.Listen(api); err != nil {
		return nil, found, err
	}
	defer endAPI()
	fake.SetURL(o.provider)
	w, err := newSuite(ctx, o, dir, v)
	if err != nil {
		return nil, found, err
	}
	defer w.close()
	r = &moneyRun{
		suite: w, fake: fake, transport: partnerSite{&http.Transport{IdleConnTimeout: 3 * time.Second,
			MaxIdleConnsPerHost: stays}},
		dice: rand.New(rand.NewPCG(o.seed, 5)), //nolint:gosec // repeatable on purpose
	}
	var ends func([]byte) bool
	if v.notices != nil {
		ends = func(notice []byte) bool { return v.notices(r, notice) }
	}
	balancer.to(w.load.bases, ends)
	fake.Deliver(stripetest.Delivery{Delay: 300 * time.Millisecond, Twice: true, Reversed: true})
	fake.FailBy(r.fault)
	live, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	for range stays {
		group.Go(func() { r.work(live) })
	}
	err = r.killAround(ctx)
	stop()
	group.Wait()
	if err != nil {
		return r, found, err
	}
	if !v.isSound() && r.wrong() { // the variant is caught
		return r, found, nil
	}
	fake.FailBy(nil)
	if err := r.settle(ctx); err != nil {
		return r, found, err
	}
	w.load.stop()
	found, err = r.audit(ctx)
	return r, found, err
}

// work takes a stay after another through its story.
func (r *moneyRun) work(ctx context.Context) {
	for ctx.Err() == nil {
		number := r.next.Add(1)
		s := &stay{run: r, number: number, dice: r.suite.load.dice(number), owner: r.suite.partners[0]}
		if err := s.live(ctx); err != nil && ctx.Err() == nil {
			r.suite.receipts.violate("money", "stay %d: %v", number, err)
		}
	}
}

// fault draws the failure of a request to the provider: a tenth of them goes wrong.
func (r *moneyRun) fault(string, string) *stripetest.Fault {
	kinds := []stripetest.FaultKind{
		stripetest.LostBefore, stripetest.LostAfter, stripetest.TakesLate, stripetest.Delayed, stripetest.Broken,
		stripetest.BrokenDone,
		stripetest.Doubled, stripetest.Overloaded, stripetest.Unready,
	}
	const every = 10
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dice.IntN(every) != 0 {
		return nil
	}
	r.failing.Add(1)
	return &stripetest.Fault{Kind: kinds[r.dice.IntN(len(kinds))],
		Delay: between(r.dice, 20*time.Millisecond, 1500*time.Millisecond)}
}

// killAround kills processes at the failpoints of payments, until each was reached often enough.
func (r *moneyRun) killAround(ctx context.Context) error {
	dice := rand.New(rand.NewPCG(r.suite.o.seed, 6)) //nolint:gosec // repeatable on purpose
	all := slices.Repeat(r.points(), r.suite.o.hits)
	wanted := slices.Clone(all)
	for round := 0; len(wanted) > 0 && round < 4; round++ {
		dice.Shuffle(len(wanted), func(i, j int) { wanted[i], wanted[j] = wanted[j], wanted[i] })
		for part := range slices.Chunk(wanted, stormSize) {
			err := r.untilWrong(ctx, func(ctx context.Context) error {
				return errors.Join(r.suite.storm(ctx, r.suite.deal(part), dice), r.suite.awaitNodes(ctx))
			})
			err = errors.Join(err, r.auditAttempts(ctx))
			if err != nil {
				return err
			}
			r.suite.o.logf("money: %d kills, %d stays, %d captured, %d collections ended", r.suite.killed(),
				r.next.Load(), r.captured.Load(), r.ended.Load())
			if r.wrong() {
				return nil
			}
		}
		wanted = r.suite.missing(all)
	}
	r.suite.violateMissing(wanted)
	return nil
}

// wrong tells whether something went wrong already.
func (r *moneyRun) wrong() bool {
	return r.suite.receipts.count("money") > 0 || len(r.fake.Violations()) > 0
}

// untilWrong runs do, and cuts it short once something went wrong: the kills that are left teach nothing more.
func (r *moneyRun) untilWrong(ctx context.Context, do func(context.Context) error) error {
	storm, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- do(storm) }()
	for {
		select {
		case err := <-done:
			if r.wrong() {
				return ctx.Err()
			}
			return err
		case <-time.After(100 * time.Millisecond):
			if r.wrong() {
				stop()
			}
		}
	}
}

// points are the failpoints of the run: some of them in a short run.
func (r *moneyRun) points() (list []point) {
	const some = 4
	for i, p := range moneyPoints {
		if !r.suite.o.short || i%some == 0 {
			list = append(list, p)
		}
	}
	return list
}

// killed counts the kills so far.
func (w *suite) killed() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, hits := range w.hits {
		n += hits
	}
	return n
}

func (r *moneyRun) print(out io.Writer, t moneyTally) {
	p := func(label, format string, args ...any) {
		fmt.Fprintf(out, "%-18s "+format+"\n", append([]any{label}, args...)...)
	}
	p("kills", "%d at %d failpoints (%s); %d requests to the provider went wrong", r.suite.killed(), len(r.suite.hits),
		fewest(r.suite.hits), r.failing.Load())
	for _, label := range slices.Sorted(maps.Keys(r.suite.hits)) {
		p("", "%3d × %s", r.suite.hits[label], label)
	}
	p("money", "%v", t)
	report{receipts: r.suite.receipts}.printViolations(out)
}
