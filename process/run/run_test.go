package run_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/process/run"
)

// diary records the calls of parts in order.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) note(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line)
}

func (d *diary) part(name string) run.Part {
	return run.Part{
		Name:  name,
		Start: func(context.Context, func(error)) error { d.note("start " + name); return nil },
		Stop:  func(context.Context) error { d.note("stop " + name); return nil },
	}
}

func process(parts ...run.Part) run.Process {
	return run.Process{Name: "test", Log: slog.New(slog.DiscardHandler), Parts: parts}
}

func TestRun_StopsInTheOppositeOrderOnceNotReady(t *testing.T) {
	var d diary
	ctx, signal := context.WithCancel(t.Context())
	last := run.Part{Name: "last",
		Start: func(context.Context, func(error)) error { d.note("start last"); signal(); return nil }}
	p := process(d.part("pool"), d.part("server"), last)
	p.Drain = func() { d.note("not ready") }
	require.NoError(t, p.Run(ctx))
	require.Equal(t, []string{"start pool", "start server", "start last", "not ready", "stop server", "stop pool"},
		d.lines)
}

func TestRun_APartThatCannotStartStopsThoseBeforeIt(t *testing.T) {
	var d diary
	taken := errors.New("address in use")
	broken := run.Part{Name: "server", Start: func(context.Context, func(error)) error { return taken },
		Stop: func(context.Context) error { d.note("stop server"); return nil }}
	err := process(d.part("pool"), broken, d.part("never")).Run(t.Context())
	require.ErrorIs(t, err, taken)
	require.ErrorContains(t, err, "server: ")
	require.Equal(t, []string{"start pool", "stop pool"}, d.lines)
}

func TestRun_APartThatBreaksDownStopsTheProcess(t *testing.T) {
	var d diary
	broken := run.NewBackgroundPart("relay", func(context.Context) error { return errors.New("out of luck") })
	err := process(d.part("pool"), broken).Run(t.Context())
	require.EqualError(t, err, "relay: out of luck")
	require.Equal(t, []string{"start pool", "stop pool"}, d.lines)
}

func TestRun_ABackgroundPartOutlivesTheSignalUntilItsTurn(t *testing.T) {
	var d diary
	ctx, signal := context.WithCancel(t.Context())
	work := run.NewBackgroundPart("worker", func(ctx context.Context) error {
		<-ctx.Done()
		d.note("worker ends")
		return nil
	})
	after := d.part("server")
	start := after.Start
	after.Start = func(ctx context.Context, fail func(error)) error { defer signal(); return start(ctx, fail) }
	require.NoError(t, process(work, after).Run(ctx))
	require.Equal(t, []string{"start server", "stop server", "worker ends"}, d.lines)
}

func TestRun_ServesOnForTheDrainDelay(t *testing.T) {
	cases := map[string]struct {
		hurry time.Duration // 0: nobody is in a hurry
		fails time.Duration // of a part; 0: never
		grace time.Duration
		takes time.Duration
	}{
		"all of it":     {takes: 5 * time.Second},
		"second signal": {hurry: 2 * time.Second, takes: 2 * time.Second},
		"failure":       {fails: time.Second, takes: time.Second},
		"grace":         {grace: 3 * time.Second, takes: 3 * time.Second},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var d diary
				ctx, signal := context.WithCancel(t.Context())
				server := d.part("server")
				server.Start = func(_ context.Context, fail func(error)) error {
					if c.fails > 0 {
						time.AfterFunc(c.fails, func() { fail(errors.New("out of luck")) })
					}
					signal()
					return nil
				}
				hurry := make(chan struct{})
				if c.hurry > 0 {
					time.AfterFunc(c.hurry, func() { close(hurry) })
				}
				p := process(server)
				p.Drain, p.DrainDelay, p.Hurry, p.Grace = func() { d.note("not ready") }, 5*time.Second, hurry, c.grace
				begin := time.Now()
				require.NoError(t, p.Run(ctx))
				require.Equal(t, c.takes, time.Since(begin))
				require.Equal(t, []string{"not ready", "stop server"}, d.lines)
			})
		})
	}
}

func TestRun_AfterAFailureNothingIsLeftToServe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := process(run.NewBackgroundPart("relay", func(context.Context) error { return errors.New("out of luck") }))
		p.DrainDelay = time.Minute
		begin := time.Now()
		require.EqualError(t, p.Run(t.Context()), "relay: out of luck")
		require.Zero(t, time.Since(begin))
	})
}

func TestRun_WaitsForTheGraceAndNoLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d diary
		ctx, signal := context.WithCancel(t.Context())
		stuck := run.Part{Name: "stuck", Stop: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}
		signal()
		begin := time.Now()
		require.NoError(t, process(d.part("pool"), stuck).Run(ctx)) // ctx ended before the start
		require.Zero(t, time.Since(begin))

		ctx, signal = context.WithTimeout(t.Context(), time.Minute)
		defer signal()
		begin = time.Now()
		require.NoError(t, process(d.part("pool"), stuck).Run(ctx))
		require.Equal(t, time.Minute+run.StopGracePeriod, time.Since(begin))
		require.Equal(t, []string{"start pool", "stop pool"}, d.lines, "what comes after a stuck part is still stopped")
	})
}
