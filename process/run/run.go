// Package run starts the parts of a process in order, waits for a signal or a failure, and stops the parts in the
// opposite order (operations.md, "Processes").
package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

const StopGracePeriod = 30 * time.Second

// Part is a component of a process. Start and Stop may be nil.
type Part struct {
	Name string

	// Start returns once the part has started. A part that fails later calls fail, which stops the process.
	Start func(ctx context.Context, fail func(error)) error

	// Stop finishes the part's work in flight. The end of the grace period ends ctx.
	Stop func(ctx context.Context) error
}

type Process struct {
	Name  string
	Log   *slog.Logger
	Parts []Part // The parts of the process in the order in which they start.

	// Drain is called before the parts stop, and makes /readyz report "not ready"; nil: nothing is called.
	Drain func()

	// DrainDelay is the time from Drain until the parts stop, a part of the grace period, in which a load balancer
	// learns from /readyz that the process stops.
	DrainDelay time.Duration

	// Hurry is a channel whose closing ends DrainDelay; nil: the delay is never cut short.
	Hurry <-chan struct{}

	// Grace replaces the default grace period if it is above 0.
	Grace time.Duration
}

// Run starts every part of the process, waits until ctx ends or a part fails, and stops the parts.
//
// Returns nil after an ordered stop, even if the grace period was too short, and otherwise the failure.
func (p Process) Run(ctx context.Context) error {
	failed := make(chan error, len(p.Parts)+1)
	fail := func(err error) {
		select {
		case failed <- err:
		default: // One failure stops the process, so later ones are dropped.
		}
	}
	started, err := p.start(ctx, fail)
	if err == nil {
		p.Log.Info("started", "process", p.Name)
		select {
		case <-ctx.Done():
		case err = <-failed:
		}
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = nil
	}
	p.stop(started, err, failed)
	return err
}

func (p Process) start(ctx context.Context, fail func(error)) (started []Part, err error) {
	for _, part := range p.Parts {
		if ctx.Err() != nil {
			return started, ctx.Err()
		}
		if part.Start != nil {
			if err := part.Start(ctx, fail); err != nil {
				return started, fmt.Errorf("%s: %w", part.Name, err)
			}
		}
		started = append(started, part)
	}
	return started, nil
}

func (p Process) stop(started []Part, cause error, failed <-chan error) {
	if cause != nil {
		p.Log.Error("stopping after a failure", "process", p.Name, "error", cause)
	} else {
		p.Log.Info("stopping", "process", p.Name)
	}
	if p.Drain != nil {
		p.Drain()
	}
	grace := p.Grace
	if grace <= 0 {
		grace = StopGracePeriod
	}
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if cause == nil && len(started) == len(p.Parts) {
		p.serveOn(ctx, failed)
	}
	for i := len(started) - 1; i >= 0; i-- {
		if started[i].Stop == nil {
			continue
		}
		if err := started[i].Stop(ctx); err != nil {
			p.Log.Warn("part did not stop cleanly", "process", p.Name, "part", started[i].Name, "error", err)
		}
	}
	p.Log.Info("stopped", "process", p.Name)
}

func (p Process) serveOn(ctx context.Context, failed <-chan error) {
	if p.DrainDelay <= 0 {
		return
	}
	p.Log.Info("draining", "process", p.Name, "delay", p.DrainDelay.String())
	timer := time.NewTimer(p.DrainDelay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.Hurry:
	case <-ctx.Done():
	case err := <-failed:
		p.Log.Error("part failed while draining", "process", p.Name, "error", err)
	}
}

// NewBackgroundPart returns a part that runs a function until its context ends. If the function returns earlier,
// the process stops.
func NewBackgroundPart(name string, work func(ctx context.Context) error) Part {
	var (
		cancel context.CancelFunc
		done   = make(chan struct{})
	)
	return Part{
		Name: name,
		Start: func(_ context.Context, fail func(error)) error {
			// The part's own context ends when its turn comes, not at the signal.
			var ctx context.Context
			ctx, cancel = context.WithCancel(context.Background())
			go func() {
				defer close(done)
				err := work(ctx)
				if ctx.Err() != nil {
					return
				}
				if err == nil {
					err = errors.New("ended by itself")
				}
				fail(fmt.Errorf("%s: %w", name, err))
			}()
			return nil
		},
		Stop: func(ctx context.Context) error {
			cancel()
			select {
			case <-done:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
	}
}

// NewCloserPart returns a part that only has to be closed, such as a connection pool. Closing is abandoned when the
// grace period ends.
func NewCloserPart(name string, closing func() error) Part {
	return Part{Name: name, Stop: func(ctx context.Context) error {
		closed := make(chan error, 1)
		go func() { closed <- closing() }()
		select {
		case err := <-closed:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
}

// SignalContext returns a context that ends with SIGINT or SIGTERM. A second signal ends the process at once.
func SignalContext() (context.Context, context.CancelFunc) {
	ctx, _, release := signals(new(atomic.Int64))
	return ctx, release
}

// signals returns a context that ends with SIGINT or SIGTERM. delay holds the nanoseconds of DrainDelay, known only
// later. A second signal within the delay closes hurry; any other ends the process at once.
func signals(delay *atomic.Int64) (ctx context.Context, hurry <-chan struct{}, release context.CancelFunc) {
	caught, second := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM)
	ctx, release = context.WithCancel(context.Background())
	go func() {
		defer signal.Stop(caught)
		select {
		case <-caught:
		case <-ctx.Done():
			return
		}
		timer := time.NewTimer(time.Duration(delay.Load()))
		defer timer.Stop()
		release()
		select {
		case <-caught:
			close(second)
		case <-timer.C:
		}
	}()
	return ctx, second, release
}
