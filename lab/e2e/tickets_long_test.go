//go:build long

package e2e_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// soonTold has the Alertmanager tell a new alert within a second. Its inhibitions stay.
func soonTold(config string) string {
	return regexp.MustCompile(`(group_wait|group_interval): \w+`).ReplaceAllString(config, "$1: 1s")
}

// fire has Alertmanager hear of alerts, as Prometheus sends them.
func (p *pager) fire(t *testing.T, severity string, names ...string) {
	t.Helper()
	alerts := []map[string]any{}
	for _, name := range names {
		alerts = append(alerts, map[string]any{"labels": map[string]string{"alertname": name, "severity": severity}})
	}
	body, err := json.Marshal(alerts)
	require.NoError(t, err)
	res, err := http.Post("http://"+p.alertmanager+"/api/v2/alerts", "application/json", strings.NewReader(string(body)))
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusOK, res.StatusCode)
}

// Each cause fires several alerts; a person gets the first of them alone. The second cause is told on its own.
func TestLong_OneCause_IsToldOnce_AndTheNextCauseOnItsOwn(t *testing.T) {
	p := startPager(t, soonTold)
	told := map[string]bool{}
	for _, cause := range []struct {
		severity, tells string
		quiet           []string
	}{
		{"ticket", "LimiterFailsOpen", []string{"QueueDirect"}},
		{"ticket", "PoolSaturated", []string{"PostgresConnectionsRunOut"}},
		{"page", "HttpAbsent", []string{"TrafficGone", "ApiErrorsFast"}},
		{"page", "PostgresDiskFull", nil}, // while the page before still fires
	} {
		p.fire(t, cause.severity, cause.tells)
		p.await(t, "firing", soon, cause.tells)
		p.fire(t, cause.severity, cause.quiet...)
		told[cause.tells] = true
	}
	passes(t, 5*time.Second) // five times as long as an alert takes
	require.Equal(t, told, p.in("firing"))
	t.Logf("figure: %d causes were told once each", len(told))
}
