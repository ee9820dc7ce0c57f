package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"partnerdeposits/lab/procs"
	"partnerdeposits/lab/receiver"
	"partnerdeposits/lab/stripetest"
)

// moneyRun is a run of the fault suite on payments, against a fake payment provider.
type moneyRun struct {
	*suite
	// The numbers of simulated stays and of requests to the payment provider that failed on purpose.
	next, failing atomic.Int64
	refunds       atomic.Int64 // Refunds that the run requested as staff.
	// Payments that the audit found, by kind and status.
	found map[string]int
}

// stays is how many stays are simulated at the same time. Each mostly waits for answers.
const stays = 16

// openProvider starts a fake payment provider if the run tests payments.
func (w *suite) openProvider(context.Context) error {
	if !w.o.money {
		return nil
	}
	notices, end, err := receiver.StartServer(http.HandlerFunc(w.takeNotice))
	if err != nil {
		return err
	}
	w.Cleanup(end)
	w.fake = stripetest.New(stripetest.Options{Webhooks: notices + "/webhooks/payments/stripe"})
	w.Cleanup(w.fake.Close)
	address, end, err := receiver.StartServer(w.fake.Handler())
	if err != nil {
		return err
	}
	w.Cleanup(end)
	w.fake.SetURL(address)
	w.fake.SetDeliveryPlan(stripetest.DeliveryPlan{Delay: 300 * ms, Twice: true, Reversed: true})
	return nil
}

// takeNotice passes a notice of the payment provider to the next http process, as a load balancer does.
func (w *suite) takeNotice(out http.ResponseWriter, r *http.Request) {
	base, err := url.Parse(w.load.base(w.load.next.Add(1)))
	if err != nil {
		panic(err) // lab/world made the URL, so it can be parsed.
	}
	httputil.NewSingleHostReverseProxy(base).ServeHTTP(out, r)
}

// runMoney kills processes around their calls to the payment provider while tenants pay. dir holds the built
// commands.
func runMoney(ctx context.Context, o options, dir string) (r *moneyRun, err error) {
	o.money = true
	if err = (procs.BuildOptions{}).CompileTo(ctx, filepath.Join(dir, "admin"), "cmd/admin"); err != nil {
		return nil, err
	}
	err = inSuite(ctx, o, dir, sound, func(w *suite) error {
		r = &moneyRun{suite: w, found: map[string]int{}}
		return r.run(ctx)
	})
	return r, err
}

// run lets tenants pay while processes are killed, then compares the provider's payments with the database.
func (r *moneyRun) run(ctx context.Context) error {
	r.fake.SetFaultChooser(r.faults(rand.New(rand.NewPCG(r.o.seed, 5)))) //nolint:gosec // repeatable on purpose
	live, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	for range stays {
		group.Go(func() {
			for live.Err() == nil {
				newStay(r).live(live)
			}
		})
	}
	err := r.killAround(ctx)
	stop()
	group.Wait()
	if err == nil && !r.wrong() {
		r.fake.SetFaultChooser(nil)
		err = inTurn(ctx, r.settle, r.audit)
	}
	for _, step := range r.fake.Violations() {
		r.receipts.violate("two payable", "%s", step)
	}
	return err
}

// faults chooses how a tenth of the requests to the payment provider fail.
func (r *moneyRun) faults(dice *rand.Rand) func(method, path string) *stripetest.Fault {
	kinds := []stripetest.FaultKind{
		stripetest.FaultLostBeforeEffect, stripetest.FaultLostAfterEffect, stripetest.FaultLateEffect,
		stripetest.FaultDelayedResponse, stripetest.FaultErrorWithoutEffect,
		stripetest.FaultErrorAfterEffect, stripetest.FaultDuplicateRequest, stripetest.FaultTooManyRequests,
		stripetest.FaultUnavailable,
	}
	const every = 10
	var mu sync.Mutex
	return func(string, string) *stripetest.Fault {
		mu.Lock()
		defer mu.Unlock()
		if dice.IntN(every) != 0 {
			return nil
		}
		r.failing.Add(1)
		return &stripetest.Fault{Kind: kinds[dice.IntN(len(kinds))], Delay: between(dice, 20*ms, 1500*ms)}
	}
}

// killAround kills processes at the failpoints of payments, until each was reached often enough.
func (r *moneyRun) killAround(ctx context.Context) error {
	dice := rand.New(rand.NewPCG(r.o.seed, 6)) //nolint:gosec // repeatable on purpose
	all := slices.Repeat(moneyPoints, r.o.hits)
	left := slices.Clone(all)
	for round := 0; len(left) > 0 && round < 4; round++ {
		dice.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
		for part := range slices.Chunk(left, stormSize) {
			if err := errors.Join(r.storm(ctx, part, dice), r.awaitNodes(ctx)); err != nil || r.wrong() {
				return err
			}
			r.o.logf("money: %d kills, %d stays", r.killed(), r.next.Load())
		}
		left = r.missing(all)
	}
	r.violateMissing(left)
	return nil
}

// wrong reports whether the run has found a violation in the service or at the payment provider.
func (r *moneyRun) wrong() bool {
	return r.receipts.count("money") > 0 || len(r.fake.Violations()) > 0
}

func (r *moneyRun) print(out io.Writer) {
	fmt.Fprintf(out, "%d kills at %d failpoints; %d requests to the provider went wrong; %v; %v, seed %d\n", r.killed(),
		len(r.hits), r.failing.Load(), r.found, time.Since(r.began).Round(time.Second), r.o.seed)
	r.receipts.print(out)
}
