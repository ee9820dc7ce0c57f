package metrics_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http/httptest"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/metrics"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/docstest"
	webhookports "partnerdeposits/ports/webhooks"
)

// scrape gives every series of the registry with its value, except those of the Go runtime.
func scrape(t testing.TB, r *metrics.Registry) map[string]string {
	t.Helper()
	w := httptest.NewRecorder()
	r.Handler(false).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	body, err := io.ReadAll(w.Body)
	require.NoError(t, err)
	series := map[string]string{}
	for line := range strings.SplitSeq(string(body), "\n") {
		if strings.HasPrefix(line, "svc_") {
			at := strings.LastIndexByte(line, ' ')
			series[line[:at]] = line[at+1:]
		}
	}
	return series
}

// shapes gives name{label,label} of every series, once.
func shapes(series map[string]string) []string {
	value := regexp.MustCompile(`="[^"]*"`)
	var out []string
	for s := range series {
		s = value.ReplaceAllString(s, "")
		s = strings.NewReplacer("_bucket{le}", "", "_bucket{", "{", ",le}", "}", "_sum", "", "_count", "").Replace(s)
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return out
}

// still is a constant backlog.
type still webhookports.Backlog

func (s still) Backlog(context.Context) (webhookports.Backlog, error) {
	return webhookports.Backlog(s), nil
}

var quiet = slog.New(slog.DiscardHandler)

func full(t testing.TB) (*metrics.Registry, *metrics.HTTP, *metrics.Deposits, *metrics.Dispatch) {
	t.Helper()
	r := metrics.NewRegistry(quiet)
	r.RegisterBuildInfo("1.2.3", "ad1685c3", "2026-11-28T02:00:00Z")
	r.RegisterDroppedLogLines(func() uint64 { return 2 })
	h := r.RegisterHTTP([]string{"partner_api", "connect"}, []string{"executed", "replayed"})
	h.InitRoute("partner_api", "/api/partner/v1/deposits", "POST")
	pool, err := pgxpool.New(t.Context(), "postgres://nobody@127.0.0.1:1/none")
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	t.Cleanup(func() { _ = client.Close() })
	r.RegisterPostgresPools(map[string]*pgxpool.Pool{"http": pool})
	r.RegisterRedisPools(map[string]redis.UniversalClient{"http": client})
	r.RegisterBacklog(
		still{OutboxPending: 3, OldestHeldAge: 11 * time.Second, OutboundSince: time.Unix(1, 0), OutboxSetAside: 4,
			Partitions: webhookports.PartitionStatus{DaysAhead: 14, DefaultRows: 5},
			Mails:      webhookports.MailBacklog{Pending: 6, OldestDueAge: 8 * time.Second},
			Collections: webhookports.CollectionBacklog{
				States:    map[deposit.CollectionState]int{deposit.CollectionAwaitingTenant: 7},
				OldestAge: 9 * time.Second},
			Server: webhookports.DatabaseServerLoad{Connections: 20, MaxConnections: 97,
				DeadRows: map[string]int{"outbox": 1_000}}})
	r.RegisterReadiness(func() map[string]bool { return map[string]bool{"postgres": true, "process": false} })
	r.RegisterFailingWrites([]string{"lock", "standby"}, func() string { return "standby" })
	r.RegisterClockSkew(func() (time.Duration, bool) { return -90 * time.Second, true })
	r.RegisterUnreadableRows()("events")
	r.RegisterBooks().SetDifferences(3)
	r.RegisterQueues([]string{"deliveries:fast"}, []string{"pending", "active"},
		func(string) (map[string]int, error) { return map[string]int{"active": 2}, nil })
	r.RegisterPayments()
	jobs := r.RegisterJobs([]string{"mail", "partitions"})
	jobs.CountRound("mail", true)
	jobs.CountRound("mail", false)
	r.RegisterMails()
	return r, h, r.RegisterDeposits(), r.RegisterDispatch()
}

// TestNames compares names and labels with the documented table (metrics.md, "Names"): dashboards and alerts depend on
// them.
func TestNames(t *testing.T) {
	var documented []string
	for _, row := range docstest.TableRows(t, "docs/spec/metrics.md", "Names") {
		name, labels, labelled := strings.Cut(strings.Trim(row[0], "`"), "{")
		if labelled {
			list := strings.Split(strings.TrimSuffix(labels, "}"), ",")
			slices.Sort(list)
			name += "{" + strings.Join(list, ",") + "}"
		}
		documented = append(documented, name)
	}
	r, _, _, _ := full(t)
	require.ElementsMatch(t, documented, shapes(scrape(t, r)))
}

func TestSeries_ClosedSetsExistFromTheStartAtZero(t *testing.T) {
	r, _, _, _ := full(t)
	got := scrape(t, r)
	for _, series := range []string{
		`svc_webhook_attempts_total{event="deposit.captured",result="blocked"}`,
		`svc_webhook_deliveries_finished_total{event="rental_operator.linked",outcome="failed"}`,
		`svc_webhook_attempt_duration_seconds_count{result="tls"}`,
		`svc_webhook_delivery_latency_seconds_count{event="deposit.expired"}`,
		`svc_webhook_inflight{lane="slow"}`,
		`svc_queue_mode{mode="direct"}`,
		`svc_webhook_deliveries_pending{state="parked"}`,
		`svc_webhook_subscriptions{state="held"}`,
		`svc_deposits_transitions_total{by="tenant",from="pending",to="active"}`,
		`svc_deposits_transitions_total{by="scheduler",from="active",to="close"}`,
		`svc_deposits_transitions_total{by="partner",from="active",to="captured"}`,
		`svc_deposits_created_total{by="operator"}`,
		`svc_webhook_healthy_delivery_latency_seconds_count`,
		`svc_webhook_start_delay_seconds_count`,
		`svc_idempotency_total{result="replayed"}`,
		`svc_rate_limited_total{surface="connect"}`,
		`svc_rate_limiter_failopen_total`,
		`svc_http_requests_total{code="500",method="POST",route="/api/partner/v1/deposits",surface="partner_api"}`,
		`svc_http_request_duration_seconds_count{route="/api/partner/v1/deposits",surface="partner_api"}`,
		`svc_queue_depth{queue="deliveries:fast",state="pending"}`,
		`svc_outbox_relayed_total`,
		`svc_webhook_reconciled_total`,
		`svc_job_runs_total{job="partitions",result="failed"}`,
		`svc_payments_total{kind="collection",result="refused"}`,
		`svc_payments_total{kind="refund",result="unavailable"}`,
		`svc_mails_total{result="sent"}`,
		`svc_mails_total{result="failed"}`,
		`svc_collections{state="scheduled"}`,
		`svc_collections{state="paid"}`,
		`svc_rows_unreadable_total{table="deposits"}`,
		`svc_job_last_success_timestamp_seconds{job="partitions"}`,
		`svc_writes_failing{cause="lock"}`,
	} {
		require.Equal(t, "0", got[series], series)
	}
	require.Equal(t, "3", got["svc_outbox_pending"])
	require.Equal(t, "4", got["svc_outbox_set_aside"])
	require.Equal(t, "14", got["svc_partitions_days_ahead"])
	require.Equal(t, "5", got["svc_default_partition_rows"])
	require.Equal(t, "6", got["svc_mails_pending"])
	require.Equal(t, "8", got["svc_mails_oldest_due_age_seconds"])
	require.Equal(t, "7", got[`svc_collections{state="awaiting_tenant"}`])
	require.Equal(t, "9", got["svc_collections_oldest_age_seconds"])
	require.Equal(t, "20", got["svc_pg_server_connections"])
	require.Equal(t, "97", got["svc_pg_server_max_connections"])
	require.Equal(t, "1000", got[`svc_pg_dead_rows{table="outbox"}`])
	require.Equal(t, "0", got[`svc_pg_dead_rows{table="deliveries"}`])
	require.Equal(t, "1", got[`svc_ready{check="postgres"}`])
	require.Equal(t, "0", got[`svc_ready{check="process"}`])
	require.Equal(t, "1", got[`svc_writes_failing{cause="standby"}`])
	require.Equal(t, "2", got[`svc_queue_depth{queue="deliveries:fast",state="active"}`])
	require.NotContains(t, got, `svc_deposits_transitions_total{by="tenant",from="close",to="active"}`,
		"what cannot happen has no series")
}

func TestCounts(t *testing.T) {
	r, h, d, w := full(t)
	h.ObserveRequest("partner_api", "/api/partner/v1/deposits", "POST", 429, 20*time.Millisecond, "")
	h.AddInFlight(1)
	h.AddInFlight(1)
	h.AddInFlight(-1)
	h.CountIdempotentRequest("replayed")
	h.CountLimiterFailedOpen()
	d.CountTransition(deposit.Pending, deposit.Active, "tenant")
	d.CountCreated("operator")
	w.ObserveHealthyLatency(30*time.Millisecond, "")
	w.ObserveStartDelay(4*time.Second, "")
	w.CountRelayed(7)
	w.CountRecovered(2)
	w.CountAttempt(webhook.EventDepositActivated, webhook.ResultTimeout, 10*time.Second, "")
	w.CountFinished(webhook.EventDepositActivated, webhook.StatusSucceeded, 30*time.Millisecond, "")
	w.CountFinished(webhook.EventDepositActivated, webhook.StatusFailed, 69*time.Hour, "")
	w.AddInFlight("fast", 2)
	w.AddInFlight("fast", -1)
	w.SetQueueMode(webhookports.QueueModeQueued)
	w.SetQueueMode(webhookports.QueueModeDirect)
	got := scrape(t, r)
	for series, want := range map[string]string{
		`svc_http_requests_total{code="429",method="POST",route="/api/partner/v1/deposits",surface="partner_api"}`: "1",
		`svc_http_request_duration_seconds_sum{route="/api/partner/v1/deposits",surface="partner_api"}`:            "0.02",
		`svc_rate_limited_total{surface="partner_api"}`:                                                            "1",
		`svc_idempotency_total{result="replayed"}`:                                                                 "1",
		`svc_http_requests_in_flight`:                                                                              "1",
		`svc_log_lines_dropped_total`:                                                                              "2",
		`svc_rate_limiter_failopen_total`:                                                                          "1",
		`svc_deposits_transitions_total{by="tenant",from="pending",to="active"}`:                                   "1",
		`svc_deposits_created_total{by="operator"}`:                                                                "1",
		`svc_webhook_healthy_delivery_latency_seconds_bucket{le="0.05"}`:                                           "1",
		`svc_webhook_start_delay_seconds_bucket{le="2.5"}`:                                                         "0",
		`svc_webhook_start_delay_seconds_bucket{le="5"}`:                                                           "1",
		`svc_outbox_relayed_total`:                                                                                 "7",
		`svc_webhook_reconciled_total`:                                                                             "2",
		`svc_webhook_attempts_total{event="deposit.activated",result="timeout"}`:                                   "1",
		`svc_webhook_attempt_duration_seconds_sum{result="timeout"}`:                                               "10",
		`svc_webhook_deliveries_finished_total{event="deposit.activated",outcome="failed"}`:                        "1",
		`svc_webhook_delivery_latency_seconds_count{event="deposit.activated"}`:                                    "1",
		`svc_webhook_delivery_latency_seconds_bucket{event="deposit.activated",le="0.05"}`:                         "1",
		`svc_webhook_deliveries_finished_total{event="deposit.activated",outcome="succeeded"}`:                     "1",
		`svc_webhook_inflight{lane="fast"}`:                                                                        "1",
		`svc_queue_mode{mode="queue"}`:                                                                             "0",
		`svc_queue_mode{mode="direct"}`:                                                                            "1",
		`svc_rows_unreadable_total{table="events"}`:                                                                "1",
		`svc_clock_skew_seconds`:                                                                                   "-90",
		`svc_reconcile_differences`:                                                                                "3",
		`svc_job_runs_total{job="mail",result="succeeded"}`:                                                        "1",
		`svc_job_runs_total{job="mail",result="failed"}`:                                                           "1",
		`svc_build_info{date="2026-11-28T02:00:00Z",go_version="` + runtime.Version() +
			`",revision="ad1685c3",version="1.2.3"}`: "1",
	} {
		require.Equal(t, want, got[series], series)
	}
	last, err := strconv.ParseFloat(got[`svc_job_last_success_timestamp_seconds{job="mail"}`], 64)
	require.NoError(t, err)
	require.InDelta(t, time.Now().Unix(), last, 60)
}

// counting counts its readings, and fails on demand.
type counting struct {
	asked int
	away  bool
}

func (c *counting) Backlog(context.Context) (webhookports.Backlog, error) {
	c.asked++
	if c.away {
		return webhookports.Backlog{}, errors.New("connection refused")
	}
	return webhookports.Backlog{OutboxPending: c.asked, OutboxOldestAge: 7 * time.Second, OldestHeldAge: 5 * time.Second},
		nil
}

func TestBacklog_IsAskedForOnceInAWhile_AndAgesWhileAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := metrics.NewRegistry(quiet)
		source := &counting{}
		r.RegisterBacklog(source)
		for range 20 {
			require.Equal(t, "1", scrape(t, r)["svc_outbox_pending"])
		}
		require.Equal(t, 1, source.asked, "twenty scrapes, one question")
		<-time.After(6 * time.Second)
		require.Equal(t, "2", scrape(t, r)["svc_outbox_pending"])
		require.Equal(t, "0", scrape(t, r)[`svc_reading_age_seconds{source="backlog"}`])
		source.away = true
		<-time.After(60 * time.Second)
		got := scrape(t, r)
		require.NotContains(t, got, "svc_outbox_pending", "nobody knows the number")
		require.NotContains(t, got, `svc_webhook_subscriptions{state="healthy"}`)
		require.Equal(t, "60", got[`svc_reading_age_seconds{source="backlog"}`])
		require.Equal(t, "67", got["svc_outbox_oldest_age_seconds"], "known to be 7 s, and 60 s older now")
		require.Equal(t, "60", got["svc_webhook_oldest_due_age_seconds"])
		require.Equal(t, "65", got["svc_webhook_oldest_held_age_seconds"])
		require.NotContains(t, got, "svc_webhook_outbound_broken")
		require.Equal(t, 3, source.asked)
		source.away = false
		<-time.After(6 * time.Second)
		require.Equal(t, "7", scrape(t, r)["svc_outbox_oldest_age_seconds"])
	})
}

func TestQueues_WhileRedisIsAway_HaveAnAgeAndNoDepth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := metrics.NewRegistry(quiet)
		away := false
		r.RegisterQueues([]string{"deliveries:fast", "deliveries:slow"}, []string{"pending"}, func(string) (map[string]int,
			error) {
			if away {
				return nil, errors.New("connection refused")
			}
			return map[string]int{"pending": 4}, nil
		})
		got := scrape(t, r)
		require.Equal(t, "4", got[`svc_queue_depth{queue="deliveries:fast",state="pending"}`])
		require.Equal(t, "4", got[`svc_queue_depth{queue="deliveries:slow",state="pending"}`])
		require.Equal(t, "0", got[`svc_reading_age_seconds{source="queue"}`])
		away = true
		<-time.After(time.Minute)
		got = scrape(t, r)
		require.Equal(t, "60", got[`svc_reading_age_seconds{source="queue"}`])
		require.NotContains(t, got, `svc_queue_depth{queue="deliveries:fast",state="pending"}`)
	})
}

const (
	route   = "/api/partner/v1/deposits"
	traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	// openMetrics is the header with which Prometheus 2.53 asks, shortened.
	openMetrics = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3"
)

// asked gives the content type and the text of a scrape.
func asked(t testing.TB, r *metrics.Registry, exemplars bool, accept string) (contentType, text string) {
	t.Helper()
	w, request := httptest.NewRecorder(), httptest.NewRequest("GET", "/metrics", nil)
	request.Header.Set("Accept", accept)
	r.Handler(exemplars).ServeHTTP(w, request)
	body, err := io.ReadAll(w.Body)
	require.NoError(t, err)
	contentType, _, _ = strings.Cut(w.Header().Get("Content-Type"), ";")
	return contentType, string(body)
}

// lines gives the lines of the service's own metrics, but for the ages of readings, which differ each time.
func lines(text string) (own []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "svc_") && !strings.HasPrefix(line, "svc_reading_age_seconds") {
			own = append(own, line)
		}
	}
	return own
}

func TestExemplars_OfRecordedTraces_AreInOpenMetrics(t *testing.T) {
	t.Parallel()
	r, h, _, w := full(t)
	h.ObserveRequest("partner_api", route, "POST", 201, 20*time.Millisecond, traceID)
	w.CountAttempt(webhook.EventDepositActivated, webhook.ResultSuccess, 20*time.Millisecond, traceID)
	w.CountFinished(webhook.EventDepositActivated, webhook.StatusSucceeded, 30*time.Millisecond, traceID)
	w.ObserveHealthyLatency(30*time.Millisecond, traceID)
	w.ObserveStartDelay(4*time.Second, traceID)
	w.ObserveStartDelay(4*time.Second, "")
	contentType, text := asked(t, r, true, openMetrics)
	require.Equal(t, "application/openmetrics-text", contentType)
	require.True(t, strings.HasSuffix(text, "\n# EOF\n"))
	for _, bucket := range []string{
		`svc_http_request_duration_seconds_bucket{route="` + route + `",surface="partner_api",le="0.025"} 1`,
		`svc_webhook_attempt_duration_seconds_bucket{result="success",le="0.025"} 1`,
		`svc_webhook_delivery_latency_seconds_bucket{event="deposit.activated",le="0.05"} 1`,
		`svc_webhook_healthy_delivery_latency_seconds_bucket{le="0.05"} 1`,
		`svc_webhook_start_delay_seconds_bucket{le="5.0"} 2`,
	} {
		require.Contains(t, text, bucket+` # {trace_id="`+traceID+`"} `)
	}
	require.Equal(t, 5, strings.Count(text, "# {"), "a time without a trace leaves the older exemplar")
	require.Contains(t, text, "\nsvc_outbox_relayed_total 0", "a counter keeps its name")
}

// Who does not ask for OpenMetrics, and every process without traces, reads the same text as ever.
func TestExemplars_LeaveTheOtherFormatAsItIs(t *testing.T) {
	t.Parallel()
	r, h, _, w := full(t)
	_, before := asked(t, r, false, "")
	h.ObserveRequest("partner_api", route, "POST", 201, 20*time.Millisecond, traceID)
	w.ObserveStartDelay(4*time.Second, traceID)
	_, plain := asked(t, r, false, "")
	require.Len(t, lines(plain), len(lines(before))+1, "the code 201 is new")
	for _, accept := range []string{"", "text/plain;version=0.0.4", "*/*"} {
		contentType, text := asked(t, r, true, accept)
		require.Equal(t, "text/plain", contentType, accept)
		require.Equal(t, lines(plain), lines(text), accept)
	}
	contentType, text := asked(t, r, false, openMetrics)
	require.Equal(t, "text/plain", contentType)
	require.Equal(t, lines(plain), lines(text))
	require.Contains(t, text, `svc_webhook_start_delay_seconds_bucket{le="5"} 1`)
	require.NotContains(t, text, "trace_id")
}

func TestExemplars_WithoutATrace_AllocateNothing(t *testing.T) {
	r, _, _, w := full(t)
	_, _ = asked(t, r, true, openMetrics)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		w.ObserveHealthyLatency(30*time.Millisecond, "")
		w.ObserveStartDelay(4*time.Second, "")
	}))
}
