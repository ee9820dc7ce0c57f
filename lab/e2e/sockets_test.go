package e2e_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/procs"
	"partnerdeposits/lab/redistest"
)

// roomyLimit is a limit of descriptors that no test reaches.
const roomyLimit = 16384

// descriptors counts the open descriptors of a process.
func (p *process) descriptors(t testing.TB) int {
	t.Helper()
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.Pid()))
	require.NoError(t, err)
	return len(open)
}

// limitDescriptors changes the soft limit of descriptors of a running process.
func (p *process) limitDescriptors(t testing.TB, n int) {
	t.Helper()
	out, err := procs.Command(t.Context(), "prlimit", "--pid", strconv.Itoa(p.Pid()), fmt.Sprintf("--nofile=%d:", n)).
		CombinedOutput()
	require.NoError(t, err, string(out))
}

// A process without a free descriptor answers operators, by those that it keeps for them.
func TestSockets_WithoutADescriptor_OperatorsAreAnswered(t *testing.T) {
	t.Parallel()
	w := worldOn(t, pgtest.NewDatabaseURL(t), redistest.EmptyDatabaseURL(t))
	d := w.dispatcher(t)
	d.limitDescriptors(t, d.descriptors(t)-8)
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for range 10 {
		response, err := client.Get(d.opsURL + "/readyz")
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusOK, response.StatusCode)
	}
	d.limitDescriptors(t, roomyLimit)
	require.Zero(t, d.stop(t))
}

// Clients hold as many connections as they can get. The others are answered all the same, and so are operators.
func TestSockets_RunOut_AndHTTPGoesOn(t *testing.T) {
	t.Parallel()
	w := worldOn(t, pgtest.NewDatabaseURL(t), redistest.EmptyDatabaseURL(t))
	h := w.http(t)
	addr := w.baseURL[len("http://"):]
	hold := func(n int) {
		for range n {
			c, err := net.Dial("tcp", addr)
			require.NoError(t, err)
			t.Cleanup(func() { _ = c.Close() })
		}
	}
	answers := func() bool {
		client := &http.Client{Timeout: soon, Transport: &http.Transport{DisableKeepAlives: true}}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.baseURL+"/api/partner/v1/me", nil)
		require.NoError(t, err)
		request.Header.Set("X-Api-Key", w.apiKey)
		response, err := client.Do(request)
		return err == nil && response.Body.Close() == nil && response.StatusCode == http.StatusOK
	}
	const limit = 200 // of which half may be connections of clients
	h.limitDescriptors(t, limit)
	hold(limit)
	require.Eventually(t, answers, soon, often)
	require.LessOrEqual(t, h.descriptors(t), limit*9/10)
	h.awaitStatus(t, http.StatusOK, func(r readiness) bool { return r.Checks["postgres"] == "ok" })

	h.limitDescriptors(t, h.descriptors(t)-20) // nothing can be opened
	require.Eventually(t, answers, soon, often, "idle connections make room")
	h.awaitStatus(t, http.StatusOK, func(r readiness) bool {
		return r.Status == "degraded" && r.Checks["sockets"] == "cannot be opened: too many open files"
	})
	require.Eventually(t, func() bool {
		return strings.Contains(h.log.String(), "missing: sockets cannot be opened: too many open files")
	}, soon, often)
	h.limitDescriptors(t, roomyLimit)
	h.awaitStatus(t, http.StatusOK, func(r readiness) bool { return r.Status == "ready" })
	require.True(t, answers())
	require.True(t, h.Running())
	require.Zero(t, h.stop(t))
}
