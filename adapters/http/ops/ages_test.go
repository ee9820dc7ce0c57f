package ops_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/ops"
)

var build = ops.BuildInfo{Version: "1.2.3", Revision: "ad1685c3", Date: "2026-11-28T02:00:00Z"}

func TestReadyz_TellsTheAgeOfEachAnswerAndSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var postgres, redis dependency
		postgres.away.Store(true)
		r := ops.NewReadiness(slog.New(slog.DiscardHandler), postgres.check("postgres", false), redis.check("redis", true))
		h := ops.Handler(r, http.NotFoundHandler(), build, false)
		seconds := func(n float64) *float64 { return &n }

		_, s := get(t, h, "/readyz")
		require.Equal(t,
			map[string]ops.ReadinessCheckAge{"postgres": {Answer: seconds(0)}, "redis": {Answer: seconds(0),
				Success: seconds(0)}},
			s.Ages)

		<-time.After(600 * time.Millisecond) // the results are reused
		_, s = get(t, h, "/readyz")
		require.Equal(t, map[string]ops.ReadinessCheckAge{"postgres": {Answer: seconds(0.6)},
			"redis": {Answer: seconds(0.6), Success: seconds(0.6)}}, s.Ages)

		redis.away.Store(true)
		postgres.away.Store(false)
		<-time.After(59400 * time.Millisecond)
		_, s = get(t, h, "/readyz")
		require.Equal(t, map[string]ops.ReadinessCheckAge{"postgres": {Answer: seconds(0), Success: seconds(0)},
			"redis": {Answer: seconds(0), Success: seconds(60)}}, s.Ages)
	})
}

func TestReadyz_BeforeTheFirstRun_HasNoAges(t *testing.T) {
	r := ops.NewReadiness(slog.New(slog.DiscardHandler), new(dependency).check("postgres", false))
	require.False(t, r.CheckResults()["postgres"])
	w := httptest.NewRecorder()
	request := httptest.NewRequest(http.MethodGet, "/livez", nil)
	ops.Handler(r, http.NotFoundHandler(), build, false).ServeHTTP(w, request)
	require.JSONEq(t,
		`{"status":"live","checks":{},"version":"1.2.3","revision":"ad1685c3","date":"2026-11-28T02:00:00Z"}`,
		w.Body.String(), "/livez runs no check")
}

func TestAsk_ReadsAProcessThatIsNotReady(t *testing.T) {
	var postgres dependency
	postgres.away.Store(true)
	server := httptest.NewServer(ops.Handler(
		ops.NewReadiness(slog.New(slog.DiscardHandler), postgres.check("postgres", false)),
		http.NotFoundHandler(), build, false))
	defer server.Close()
	for _, base := range []string{server.URL, server.URL + "/", server.URL + "/metrics"} {
		s, err := ops.QueryReadiness(t.Context(), server.Client(), base)
		require.NoError(t, err)
		require.Equal(t, ops.StatusNotReady, s.Status)
		require.Equal(t, "cannot be reached", s.Checks["postgres"])
		require.NotNil(t, s.Ages["postgres"].Answer)
		require.Nil(t, s.Ages["postgres"].Success)
	}
}

func TestAsk_AnotherProgram_IsNotOurs(t *testing.T) {
	for _, answer := range []string{"Prometheus is Ready.", `{"status":"up"}`, ""} {
		server := httptest.NewServer(
			http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) }))
		_, err := ops.QueryReadiness(t.Context(), server.Client(), server.URL)
		require.ErrorIs(t, err, ops.ErrOtherProgramAnswers, answer)
		server.Close()
		_, err = ops.QueryReadiness(t.Context(), server.Client(), server.URL)
		require.Error(t, err, "nobody listens")
		require.NotErrorIs(t, err, ops.ErrOtherProgramAnswers)
	}
}

func TestProfiles_AreServedOnlyWhenAsked(t *testing.T) {
	paths := []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/cmdline", "/debug/pprof/profile?seconds=1",
		"/debug/pprof/symbol", "/debug/pprof/trace?seconds=0.1"}
	for _, path := range paths {
		for on, want := range map[bool]int{true: http.StatusOK, false: http.StatusNotFound} {
			w := httptest.NewRecorder()
			ops.Handler(ops.NewReadiness(slog.New(slog.DiscardHandler)), http.NotFoundHandler(), build, on).ServeHTTP(w,
				httptest.NewRequest(http.MethodGet, path, nil))
			require.Equal(t, want, w.Code, "%s, on: %v", path, on)
		}
	}
}
