package payments

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"partnerdeposits/app/platform/parallel"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
	ports "partnerdeposits/ports/platform"
	"partnerdeposits/ports/platform/failpoint"
	"partnerdeposits/ports/platform/outage"
)

// The time limits of a call to the payment provider, including the wait for a slot (the right to make one of the
// calls that may run at once).
const (
	askTimeout    = 9 * time.Second
	chargeTimeout = 20 * time.Second
	// The largest number of calls to the provider that a process may have open, and the longest wait for a slot: less
	// than half of a call's limit, so that a timeout is due to the provider and not to the wait.
	maxCalls     = 32
	slotPatience = 4 * time.Second
	// After maxFailures failed calls in a row, the provider is not called for restTime; then one call tests it.
	maxFailures = 5
	restTime    = 10 * time.Second
)

var (
	errResting = errors.New("payments: the provider has failed several times in a row and is left alone for a moment")
	errBusy    = errors.New("payments: too many calls wait for the provider")
)

// guard makes the calls to the payment provider, at most maxCalls at once. After repeated failures, calls are
// refused until one has succeeded.
type guard struct {
	provider paymentports.PaymentProvider
	clock    ports.Clock
	outage   *outage.Log
	slots    chan struct{}

	mu       sync.Mutex
	failures int       // The calls to the payment provider that failed in a row.
	rests    time.Time // The end of the pause in calls to the provider.
	trying   bool      // trying reports whether the call that tests the provider after a pause is running.
}

func newGuard(provider paymentports.PaymentProvider, clock ports.Clock, log *slog.Logger) *guard {
	return &guard{provider: provider, clock: clock, outage: outage.New(log), slots: make(chan struct{}, maxCalls)}
}

// ready returns how many due payments may be checked: none in a pause of calls to the provider, one just after,
// else a batch.
func (g *guard) ready() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.failures < maxFailures:
		return parallel.BatchSize
	case g.trying || g.clock.Now().Before(g.rests):
		return 0
	}
	return 1
}

// enter waits for a slot for a call to the provider. trial is true for the call that tests it after a pause.
//
// Returns service_unavailable during a pause, or if no slot becomes free.
func (g *guard) enter(ctx context.Context) (trial bool, err error) {
	if trial, err = g.admit(); err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, slotPatience)
	defer cancel()
	select {
	case g.slots <- struct{}{}:
	case <-ctx.Done():
		g.mu.Lock()
		g.trying = g.trying && !trial
		g.mu.Unlock()
		return false, fault.ErrUnavailable.WithCause(errBusy)
	}
	// Calls to the provider may have been paused during the wait for a slot.
	if !trial {
		if trial, err = g.admit(); err != nil {
			<-g.slots
		}
	}
	return trial, err
}

func (g *guard) admit() (trial bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.failures < maxFailures:
		return false, nil
	case g.trying || g.clock.Now().Before(g.rests):
		return false, fault.ErrUnavailable.WithCause(errResting)
	}
	g.trying = true
	return true, nil
}

// leave frees the slot of a call to the provider and counts its outcome. Any response ends the count of failures:
// otherwise one refused payment would stop all. A cancelled call is not counted.
func (g *guard) leave(ctx context.Context, trial, gaveUp bool, err error) {
	<-g.slots
	away := errors.Is(err, fault.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
	away = away && !errors.Is(err, paymentports.ErrProviderRefused)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.trying = g.trying && !trial
	switch {
	case gaveUp:
	case away:
		if g.failures++; g.failures >= maxFailures {
			g.rests = g.clock.Now().Add(restTime)
		}
		g.outage.RecordFailure(ctx, "the payment provider cannot be reached", "error", err)
	default:
		g.failures = 0
		g.outage.RecordSuccess(ctx)
	}
}

var errPanicked = errors.New("payments: a call to the provider panicked")

// guarded makes a call to the provider within a time limit, when a slot is free. name is the point where tests
// inject faults.
func guarded[T any](ctx context.Context, g *guard, name string, limit time.Duration,
	call func(context.Context) (T, error)) (answer T, err error) {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	trial, err := g.enter(bounded)
	if err != nil {
		return answer, err
	}
	err = errPanicked
	defer func() { g.leave(ctx, trial, errors.Is(ctx.Err(), context.Canceled), err) }()
	failpoint.Hit("payment." + name + ".before")
	answer, err = call(bounded)
	failpoint.Hit("payment." + name + ".answered")
	if err != nil && errors.Is(bounded.Err(), context.DeadlineExceeded) && !errors.Is(err, fault.ErrUnavailable) {
		err = fault.ErrUnavailable.WithCause(err)
	}
	return answer, err
}

func (g *guard) open(ctx context.Context, r paymentports.HostedPageRequest) (paymentports.HostedPage, error) {
	return guarded(ctx, g, "open", askTimeout,
		func(ctx context.Context) (paymentports.HostedPage, error) { return g.provider.OpenPage(ctx, r) })
}

func (g *guard) lookup(ctx context.Context, paymentID id.ID) (paymentports.ProviderPayment, error) {
	return guarded(ctx, g, "lookup", askTimeout, func(ctx context.Context) (paymentports.ProviderPayment, error) {
		return g.provider.LookupPayment(ctx, paymentID)
	})
}

func (g *guard) close(ctx context.Context, paymentID id.ID) (paymentports.ProviderPayment, error) {
	return guarded(ctx, g, "close", askTimeout, func(ctx context.Context) (paymentports.ProviderPayment, error) {
		return g.provider.ClosePayment(ctx, paymentID)
	})
}

func (g *guard) collect(ctx context.Context, r paymentports.CollectRequest) (paymentports.ProviderPayment, error) {
	return guarded(ctx, g, "collect", chargeTimeout,
		func(ctx context.Context) (paymentports.ProviderPayment, error) {
			return g.provider.ChargeStoredCard(ctx, r)
		})
}

func (g *guard) refund(ctx context.Context, r paymentports.RefundRequest) (paymentports.ProviderRefund, error) {
	return guarded(ctx, g, "refund", chargeTimeout,
		func(ctx context.Context) (paymentports.ProviderRefund, error) { return g.provider.Refund(ctx, r) })
}
