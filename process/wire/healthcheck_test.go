package wire_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/process/wire"
)

func TestHealthcheck_TellsTheStateOrTheReason(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code              int
		body, state, fail string
	}{
		"ready": {200, `{"status":"ready","checks":{"postgres":"ok"}}`, "ready", ""},
		"degraded": {200, `{"status":"degraded","checks":{"postgres":"ok","redis":"takes no writes"}}`,
			"degraded: redis takes no writes", ""},
		"not ready": {503, `{"status":"not_ready","checks":{"schema":"is old","postgres":"cannot be reached"}}`, "",
			"not_ready: postgres cannot be reached, schema is old"},
		"stopping":        {503, `{"status":"stopping","checks":{"postgres":"ok"}}`, "", "stopping"},
		"another program": {200, `hello`, "", "not that of a /readyz"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.code)
			_, _ = w.Write([]byte(c.body))
		}))
		state, err := wire.Healthcheck(t.Context(), []string{"METRICS_ADDR=" + strings.TrimPrefix(server.URL, "http://"),
			"DATABASE_URL=wrong", "LOG_LEVEL=loud"})
		server.Close()
		require.Equal(t, c.state, state, name)
		if c.fail == "" {
			require.NoError(t, err, name)
		} else {
			require.ErrorContains(t, err, c.fail, name)
		}
	}
}

func TestHealthcheck_OfAProcessThatHangs_Ends(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-ended }))
	defer server.Close()
	defer close(ended)
	begin := time.Now()
	_, err := wire.Healthcheck(t.Context(), []string{"METRICS_ADDR=" + strings.TrimPrefix(server.URL, "http://")})
	require.ErrorContains(t, err, "Timeout")
	require.Less(t, time.Since(begin), 10*time.Second)
}
