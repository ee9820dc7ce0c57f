package e2e_test

import (
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestDrain_ServesOnUntilTheDelayOrASecondSignal: a balancer learns from /readyz that the process stops, and no request
// that it sends meanwhile fails.
func TestDrain_ServesOnUntilTheDelayOrASecondSignal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "DRAIN_DELAY=20s")
	h := w.http(t)
	client := &http.Client{Transport: &http.Transport{}, Timeout: soon}
	t.Cleanup(client.CloseIdleConnections)
	me := func() *http.Response {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.baseURL+"/api/partner/v1/me", nil)
		require.NoError(t, err)
		request.Header.Set("X-Api-Key", w.apiKey)
		response, err := client.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusOK, response.StatusCode)
		return response
	}
	require.False(t, me().Close)

	begin := time.Now()
	h.Signal(syscall.SIGTERM)
	h.awaitStatus(t, http.StatusServiceUnavailable, func(r readiness) bool { return r.Status == "stopping" })
	for range 3 {
		require.True(t, me().Close, "also on a connection of before, and on new ones")
	}
	h.Signal(syscall.SIGTERM)
	require.Zero(t, h.exitCode(t), h.log.String())
	require.Less(t, time.Since(begin), 20*time.Second, "the second signal ends the delay")
	require.Contains(t, h.log.String(), `"msg":"stopped"`)
}
