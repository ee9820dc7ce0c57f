package ops_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/ops"
)

// dependency is a fake dependency that a test takes away and gives back.
type dependency struct{ away atomic.Bool }

func (x *dependency) check(name string, optional bool) ops.ReadinessCheck {
	return ops.ReadinessCheck{
		Name: name, Optional: optional,
		Run: func(context.Context) error {
			if x.away.Load() {
				return errors.New("dial tcp 10.1.2.3:5432: connection refused")
			}
			return nil
		},
		Problem: func(error) string { return "cannot be reached" },
	}
}

func get(t *testing.T, h http.Handler, path string) (int, ops.ReadinessStatus) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	var s ops.ReadinessStatus
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &s), w.Body.String())
	return w.Code, s
}

func TestReadyz_SaysWhichIsMissingAndRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var postgres, redis dependency
		var log strings.Builder
		postgres.away.Store(true)
		r := ops.NewReadiness(slog.New(slog.NewTextHandler(&log, nil)), postgres.check("postgres", false),
			redis.check("redis", true))
		h := ops.Handler(r, http.NotFoundHandler(), build, false)

		code, s := get(t, h, "/readyz")
		require.Equal(t, http.StatusServiceUnavailable, code)
		require.Equal(t, ops.StatusNotReady, s.Status)
		require.Equal(t, map[string]string{"postgres": "cannot be reached", "redis": "ok"}, s.Checks)
		code, _ = get(t, h, "/livez")
		require.Equal(t, http.StatusOK, code, "a process that waits is alive")
		require.Equal(t, 1, strings.Count(log.String(), "missing: postgres cannot be reached"))

		for range 50 {
			<-time.After(2 * time.Second)
			get(t, h, "/readyz")
		}
		require.Equal(t, 1, strings.Count(log.String(), `msg="missing: postgres cannot be reached`))
		require.Equal(t, 3, strings.Count(log.String(), `msg="still: missing: postgres cannot be reached`),
			"a line every half minute")
		postgres.away.Store(false)
		<-time.After(2 * time.Second)
		code, s = get(t, h, "/readyz")
		require.Equal(t, http.StatusOK, code)
		require.Equal(t, ops.StatusReady, s.Status)
		require.Contains(t, log.String(), "found: postgres")
	})
}

func TestReadyz_GoesOnWithoutWhatItCanSpare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var redis dependency
		redis.away.Store(true)
		r := ops.NewReadiness(slog.New(slog.DiscardHandler), redis.check("redis", true))
		require.Equal(t, ops.StatusNotReady, r.CurrentStatus(t.Context()).Status, "until it was seen once it is missing")
		redis.away.Store(false)
		<-time.After(2 * time.Second)
		require.Equal(t, ops.StatusReady, r.CurrentStatus(t.Context()).Status)
		redis.away.Store(true)
		<-time.After(2 * time.Second)
		s := r.CurrentStatus(t.Context())
		require.Equal(t, ops.StatusDegraded, s.Status)
		require.True(t, s.OK())
		require.Equal(t, "cannot be reached", s.Checks["redis"])
	})
}

func TestReadyz_AFailedAdvice_LeavesTheProcessReadyFromTheStart(t *testing.T) {
	var clock dependency
	clock.away.Store(true)
	check := clock.check("clock", false)
	check.Advisory = true
	h := ops.Handler(ops.NewReadiness(slog.New(slog.DiscardHandler), check), http.NotFoundHandler(), build, false)
	code, s := get(t, h, "/readyz")
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, ops.StatusDegraded, s.Status)
	require.Equal(t, "cannot be reached", s.Checks["clock"])
}

func TestPassing_TellsEachCheckAndTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var postgres, redis dependency
		r := ops.NewReadiness(slog.New(slog.DiscardHandler), postgres.check("postgres", false), redis.check("redis", true))
		require.Equal(t, map[string]bool{"postgres": false, "redis": false, ops.WholeProcessCheckName: false},
			r.CheckResults(),
			"nothing was looked at")
		r.CurrentStatus(t.Context())
		require.Equal(t, map[string]bool{"postgres": true, "redis": true, ops.WholeProcessCheckName: true}, r.CheckResults())
		redis.away.Store(true)
		require.True(t, r.CheckResults()["redis"], "no check runs")
		<-time.After(2 * time.Second)
		r.CurrentStatus(t.Context())
		require.Equal(t, map[string]bool{"postgres": true, "redis": false, ops.WholeProcessCheckName: true}, r.CheckResults())
		r.StartDraining()
		require.False(t, r.CheckResults()[ops.WholeProcessCheckName])
	})
}

func TestReadyz_IsOverOnceTheProcessDrains(t *testing.T) {
	r := ops.NewReadiness(slog.New(slog.DiscardHandler), new(dependency).check("postgres", false))
	require.True(t, r.CurrentStatus(t.Context()).OK())
	r.StartDraining()
	code, s := get(t, ops.Handler(r, http.NotFoundHandler(), build, false), "/readyz")
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Equal(t, ops.StatusStopping, s.Status)
}

func TestReadyz_LooksNoMoreThanOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		r := ops.NewReadiness(slog.New(slog.DiscardHandler),
			ops.ReadinessCheck{Name: "postgres", Run: func(context.Context) error { runs++; return nil }})
		for range 100 {
			r.CurrentStatus(t.Context())
		}
		require.Equal(t, 1, runs)
	})
}

func TestReadyz_KeepsASuccessThatHolds_AndNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs, away := 0, true
		r := ops.NewReadiness(slog.New(slog.DiscardHandler), ops.ReadinessCheck{
			Name: "schema", Holds: time.Minute,
			Run: func(context.Context) error {
				if runs++; away {
					return errors.New("outdated")
				}
				return nil
			},
			Problem: func(error) string { return "is not up to date" },
		})
		during := func(span time.Duration) int {
			before := runs
			for range span / time.Second {
				r.CurrentStatus(t.Context())
				<-time.After(time.Second)
			}
			return runs - before
		}
		require.Equal(t, 30, during(30*time.Second))
		away = false
		require.Equal(t, 3, during(3*time.Minute))
	})
}

func TestAwait_ReturnsOnceItIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var postgres, redis dependency
		postgres.away.Store(true)
		redis.away.Store(true)
		r := ops.NewReadiness(slog.New(slog.DiscardHandler), postgres.check("postgres", false), redis.check("redis", true))
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
		defer stop()
		require.ErrorIs(t, r.AwaitChecks(ctx, "postgres"), context.DeadlineExceeded)

		go func() { <-time.After(30 * time.Second); postgres.away.Store(false) }()
		begin := time.Now()
		require.NoError(t, r.AwaitChecks(t.Context(), "postgres"))
		require.InDelta(t, 31, time.Since(begin).Seconds(), 2)
	})
}

func TestWatch_TriesLessAndLessOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		r := ops.NewReadiness(slog.New(slog.DiscardHandler), ops.ReadinessCheck{
			Name: "postgres", Run: func(context.Context) error { runs++; return errors.New("away") },
			Problem: func(error) string { return "away" },
		})
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		require.NoError(t, r.RunChecks(ctx))
		require.InDelta(t, 360, runs, 60)
	})
}

func TestServer_ServesUntilShutdown(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	metrics := http.HandlerFunc(
		func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "svc_build_info 1\n") })
	s := ops.NewServer(listener, ops.Handler(ops.NewReadiness(slog.New(slog.DiscardHandler)), metrics, build, false),
		slog.New(slog.DiscardHandler))
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	response, err := http.Get("http://" + listener.Addr().String() + "/metrics")
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, "svc_build_info 1\n", string(body))
	require.NoError(t, s.Shutdown(t.Context()))
	require.NoError(t, <-served)
}
