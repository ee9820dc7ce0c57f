package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/rarely"
	"partnerdeposits/lab/receiver"
	"partnerdeposits/lab/redistest"
)

const dashboardsDir = "deployments/grafana/dashboards"

// TestDashboards_UnderLoadAndFaults_HaveSamplesInEveryPanel asks each query as Grafana would. DASHBOARDS_TO is a
// directory for pictures of the panels (make dashboards).
func TestDashboards_UnderLoadAndFaults_HaveSamplesInEveryPanel(t *testing.T) {
	t.Parallel()
	if os.Getenv("DASHBOARDS_TO") == "" && !rarely.MustRun(t, rarely.MonitoringTests) {
		return
	}
	redis := redistest.StartServer(t)
	w := newWorldWithRedis(t, redis.URL(), "RATE_LIMIT_PER_MINUTE=1000000", "RATE_LIMIT_WRITES_PER_MINUTE=1000000",
		"WEBHOOK_RETRY_SCHEDULE=0s,1s,1s")
	h, d := w.http(t), w.dispatcher(t)
	span := shownSpan{from: time.Now(), step: time.Second, rateInterval: 10 * time.Second}
	p := startPrometheus(t, prometheusOf{targets: map[string][]*process{"http": {h}, "dispatcher": {d}}})
	good, bad := newReceiver(t), newReceiver(t)
	w.subscribe(t, good)
	w.subscribe(t, bad)
	bad.AnswerWith(func(int, receiver.Webhook) int { return http.StatusInternalServerError })
	account := w.link(t, "villa-32")
	for range 4 {
		w.traffic(t, account, 40)
		passes(t, 3*time.Second)
	}
	require.NoError(t, redis.Kill())
	w.traffic(t, account, 40)
	passes(t, 4*time.Second)
	require.NoError(t, redis.Restart(t.Context()))
	w.traffic(t, account, 40)
	passes(t, 6*time.Second)
	span.to = time.Now()

	var table strings.Builder
	empty, total := 0, 0
	for _, dashboard := range dashboards(t) {
		for _, v := range dashboard.Templating.List {
			if v.Type == "query" {
				require.NotEmpty(t, v.values(t, p, span), "%s: the variable %s has nothing to choose from", dashboard.Title, v.Name)
			}
		}
		drawn := make([][]drawnLine, len(dashboard.Panels))
		for i, panel := range dashboard.Panels {
			drawn[i] = dashboard.lines(t, p, panel, span)
			samples := 0
			for _, line := range drawn[i] {
				samples += len(line.values)
			}
			if total++; samples == 0 && !panel.mayBeEmpty() && len(dashboard.lines(t, p, panel.unfiltered(), span)) == 0 {
				empty++
			}
			fmt.Fprintf(&table, "%-24s %-50s %3d series %6d samples\n", dashboard.Title, panel.Title, len(drawn[i]), samples)
		}
		if to := os.Getenv("DASHBOARDS_TO"); to != "" {
			picture := dashboard.draw(drawn, span)
			picture = regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllString(picture, "")
			require.NoError(t,
				os.WriteFile(filepath.Join(to, strings.TrimPrefix(dashboard.UID, "svc-")+".svg"), []byte(picture), 0o600))
		}
	}
	t.Logf("%d of %d panels have samples\n%s", total-empty, total, table.String())
	require.Zero(t, empty)
	require.Greater(t, total, 60)
}
