package e2e_test

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// idIn reads data.id of an answer.
func idIn(raw []byte) string {
	var answer struct{ Data struct{ ID string } }
	_ = json.Unmarshal(raw, &answer) // "" then
	return answer.Data.ID
}

// sum adds the series of a metric whose labels match, over processes.
func sum(t testing.TB, metric, labels string, processes ...*process) float64 {
	t.Helper()
	matches := regexp.MustCompile(labels)
	total := 0.0
	for _, p := range processes {
		_, body := fetch(p.opsURL + "/metrics")
		for line := range strings.Lines(body) {
			series, value, _ := strings.Cut(strings.TrimSpace(line), " ")
			name, rest, _ := strings.Cut(series, "{")
			if name == metric && matches.MatchString(rest) {
				v, err := strconv.ParseFloat(value, 64)
				require.NoError(t, err, line)
				total += v
			}
		}
	}
	return total
}

// Operators trust the counters as much as the tables (metrics.md, "Names").
func TestMetrics_UnderLoad_AgreeWithTheDatabaseAndAreFew(t *testing.T) {
	t.Parallel()
	const maxSeries, deposits = 2000, 200
	w := newWorld(t, "RATE_LIMIT_PER_MINUTE=1000000", "RATE_LIMIT_WRITES_PER_MINUTE=1000000")
	h, d1, d2 := w.http(t), w.dispatcher(t), w.dispatcher(t)
	all := []*process{h, d1, d2}
	w.subscribe(t, newReceiver(t))
	w.traffic(t, w.link(t, "villa-31"), deposits)

	pool, err := pgx.Connect(t.Context(), strings.TrimPrefix(w.environ[0], "DATABASE_URL="))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, pool.Close(t.Context())) })
	count := func(sql string) (n float64) {
		require.NoError(t, pool.QueryRow(t.Context(), "SELECT ("+sql+")::float8").Scan(&n))
		return n
	}
	require.Eventually(t, func() bool {
		return count(`SELECT count(*) FROM outbox`) == 0 && count(`SELECT count(*) FROM deliveries WHERE state < 2`) == 0 &&
			count(`SELECT count(*) FROM secured_notices`) == 0 && count(`SELECT count(*) FROM mails WHERE sent_at IS NULL`) == 0
	}, soon, often, "all is delivered")
	for _, c := range []struct{ metric, labels, sql string }{
		{"svc_deposits_created_total", `by="partner"`, `SELECT count(*) FROM deposits`},
		{"svc_deposits_transitions_total", `from="pending",to="active"`,
			`SELECT count(*) FROM deposit_transitions WHERE from_status = 'pending' AND to_status = 'active'`},
		{"svc_deposits_transitions_total", `from="active"`,
			`SELECT count(*) FROM deposit_transitions WHERE from_status = 'active'`},
		{"svc_outbox_relayed_total", "", `SELECT count(*) FROM events`},
		{"svc_webhook_deliveries_finished_total", `outcome="succeeded"`, `SELECT count(*) FROM deliveries WHERE state = 2`},
		{"svc_webhook_attempts_total", "", `SELECT sum(attempts) FROM deliveries`},
		{"svc_webhook_delivery_latency_seconds_count", "", `SELECT count(*) FROM deliveries WHERE state = 2`},
		{"svc_webhook_start_delay_seconds_count", "", `SELECT count(*) FROM deliveries`},
		{"svc_webhook_healthy_delivery_latency_seconds_count", "", `SELECT count(*) FROM deliveries WHERE state = 2`},
		{"svc_mails_total", `result="sent"`, `SELECT count(*) FROM mails WHERE sent_at IS NOT NULL`},
		{"svc_idempotency_total", `result="executed"`, `SELECT count(*) FROM idempotency_keys`},
	} {
		want := count(c.sql)
		require.Positive(t, want, c.sql)
		var got float64
		require.Eventually(t, func() bool {
			got = sum(t, c.metric, c.labels, all...)
			return math.Abs(got-want) <= want/100
		}, soon, often, "%s{%s}: %s", c.metric, c.labels,
			lazy(func() string { return fmt.Sprint(got, " instead of ", want) }))
		t.Logf("%-52s %6.0f counted %6.0f in SQL", c.metric, got, want)
	}
	requests := sum(t, "svc_http_requests_total", `surface="partner_api"`, h)
	require.InDelta(t, 2.25*deposits, requests, 0.01*2.25*deposits+5, "the other requests are those of the set-up")
	for _, p := range all {
		_, body := fetch(p.opsURL + "/metrics")
		series := len(regexp.MustCompile(`(?m)^[a-z]`).FindAllString(body, -1))
		t.Logf("%s has %d series", p.Name, series)
		require.LessOrEqual(t, series, maxSeries)
	}
}
