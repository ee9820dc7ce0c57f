package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/redistest"
)

// processFindings runs the doctor and gives its findings about processes, and its exit code.
func processFindings(t *testing.T, environ []string, args ...string) (code int, found map[string]struct {
	OK            bool
	Finding, Todo string
}) {
	t.Helper()
	code, stdout, stderr := run(t, environ, "admin", append([]string{"doctor", "--json"}, args...)...)
	var answer struct {
		Checks []struct {
			Check         string
			OK            bool
			Finding, Todo string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &answer), stdout+stderr)
	found = map[string]struct {
		OK            bool
		Finding, Todo string
	}{}
	for _, check := range answer.Checks {
		if url, is := strings.CutPrefix(check.Check, "process "); is {
			found[url] = struct {
				OK            bool
				Finding, Todo string
			}{check.OK, check.Finding, check.Todo}
		}
	}
	return code, found
}

func TestDoctor_RunningProcesses_AreReadAndTheirProblemsHaveARemedy(t *testing.T) {
	t.Parallel()
	redis := redistest.StartServer(t)
	w := newWorldWithRedis(t, redis.URL())
	h, d := w.http(t), start(t, "dispatcher", append(w.environ, "METRICS_PPROF=true")...).ready(t)
	requireProfiles(t, h, d)

	code, found := processFindings(t, w.environ)
	require.Zero(t, code)
	require.Empty(t, found, "nothing runs at METRICS_ADDR of this machine")

	code, found = processFindings(t,
		append(w.environ[:len(w.environ):len(w.environ)], "METRICS_ADDR="+strings.TrimPrefix(h.opsURL, "http://")))
	require.Zero(t, code)
	require.Len(t, found, 1)
	require.Regexp(t, `^ready: clock ok \(.*\), keyset ok \(.*\), log ok \(.*\), postgres ok \([0-9.]+m?s ago\), redis ok \(.*\), `+
		`schema ok \(.*\), sockets ok \(.*\), writes ok \(.*\)$`,
		found[h.opsURL].Finding)

	code, found = processFindings(t, w.environ, "--process", h.opsURL+"/metrics", "--process", d.opsURL)
	require.Zero(t, code)
	require.True(t, found[h.opsURL+"/metrics"].OK)
	require.Contains(t, found[d.opsURL].Finding, "queue ok (")

	require.NoError(t, redis.Kill())
	d.awaitStatus(t, http.StatusOK, func(r readiness) bool {
		age := r.Ages["redis"]
		return r.Checks["redis"] == "cannot be reached" && age.AnswerSeconds != nil && age.SuccessSeconds != nil &&
			*age.SuccessSeconds > *age.AnswerSeconds
	})
	gone := "http://" + freePort(t)
	code, found = processFindings(t, w.environ, "--process", d.opsURL, "--process", gone)
	require.Equal(t, 1, code)
	require.False(t, found[d.opsURL].OK)
	require.Regexp(t, `^degraded: .*redis cannot be reached \([0-9.]+m?s ago, passed [0-9.]+m?s ago\)`,
		found[d.opsURL].Finding)
	require.Contains(t, found[d.opsURL].Todo, "Check the REDIS_URL of the process")
	require.False(t, found[gone].OK)
	require.Contains(t, found[gone].Finding, "does not answer: ")
	require.Contains(t, found[gone].Todo, "METRICS_ADDR")
}

// requireProfiles finds profiles where METRICS_PPROF is on, for operators alone.
func requireProfiles(t *testing.T, off, on *process) {
	t.Helper()
	code, _ := fetch(off.opsURL + "/debug/pprof/")
	require.Equal(t, http.StatusNotFound, code, "off by default")
	code, body := fetch(on.opsURL + "/debug/pprof/goroutine?debug=1")
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, body, "goroutine profile: total")
	require.NotContains(t, on.log.String(), "METRICS_PPROF is on", "only production warns")
}
