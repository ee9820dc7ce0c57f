package e2e_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/redistest"
)

// A process goes on with a wrong clock, and starts with one: webhooks carry Postgres's time, whatever its own is.
func TestClock_OfPostgresThatIsWrong_IsToldByProcessesAndDoctor(t *testing.T) {
	t.Parallel()
	databaseURL := pgtest.NewDatabaseURL(t)
	w := worldOn(t, databaseURL, redistest.EmptyDatabaseURL(t))
	h := w.http(t)
	require.InDelta(t, 0, h.metric("svc_clock_skew_seconds"), 2)
	pgtest.SkewDatabaseClock(t, databaseURL, 10*time.Minute)
	for _, p := range []*process{h, w.dispatcher(t)} {
		p.awaitStatus(t, http.StatusOK, func(r readiness) bool {
			return r.Status == "degraded" && r.Checks["postgres"] == "ok" &&
				r.Checks["clock"] == "differs from Postgres's by 10m0s"
		})
		require.InDelta(t, 600, p.metric("svc_clock_skew_seconds"), 2)
	}
	code, stdout, _ := run(t, w.environ, "admin", "doctor")
	require.Equal(t, 1, code)
	require.Contains(t, stdout, "the clock of Postgres is 10m0s ahead of ours")
	pgtest.SkewDatabaseClock(t, databaseURL, 0)
	h.awaitStatus(t, http.StatusOK, func(r readiness) bool { return r.Status == "ready" })
}
