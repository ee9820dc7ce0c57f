package docs_test

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/account"
	"partnerdeposits/adapters/http/caughtmails"
	"partnerdeposits/adapters/http/checkout"
	"partnerdeposits/adapters/http/connect"
	"partnerdeposits/adapters/http/dashboard"
	"partnerdeposits/adapters/metrics"
	"partnerdeposits/adapters/payments/sandbox"
	"partnerdeposits/adapters/postgres"
	"partnerdeposits/lab/docstest"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// The pages of the specification that name metrics, the pages of operators and tenants, and the notices of the payment
// provider.
const (
	metricsPage    = "docs/spec/metrics.md"
	pagesPage      = "docs/spec/pages.md"
	operationsPage = "docs/spec/operations.md"
)

// nothing is a backlog of which only the labels matter.
type nothing struct{}

func (nothing) Backlog(context.Context) (webhookports.Backlog, error) {
	return webhookports.Backlog{}, nil
}

// everyMetric scrapes a registry that holds what all processes register: the values of each label, by metric.
func everyMetric(t *testing.T) map[string]map[string][]string {
	t.Helper()
	r := metrics.NewRegistry(slog.New(slog.DiscardHandler))
	pool, err := pgxpool.New(t.Context(), "postgres://nobody@127.0.0.1:1/none") // connects when it is used: never
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	r.RegisterBuildInfo("x", "x", "x")
	r.RegisterPostgresPools(map[string]*pgxpool.Pool{"x": pool})
	r.RegisterRedisPools(map[string]redis.UniversalClient{"x": client})
	r.RegisterHTTP([]string{"x"}, []string{"x"}).InitRoute("x", "/x", "GET")
	r.RegisterDeposits()
	r.RegisterPayments()
	r.RegisterDispatch()
	r.RegisterBacklog(nothing{})
	r.RegisterDroppedLogLines(func() uint64 { return 0 })
	r.RegisterReadiness(func() map[string]bool { return map[string]bool{"process": true} })
	r.RegisterFailingWrites(postgres.WriteFailureCauses, func() string { return "" })
	r.RegisterClockSkew(func() (time.Duration, bool) { return 0, true })
	r.RegisterUnreadableRows()
	r.RegisterJobs([]string{"mail"})
	r.RegisterMails()
	r.RegisterBooks()
	r.RegisterQueues([]string{"x"}, []string{"x"}, func(string) (map[string]int, error) { return map[string]int{}, nil })
	w := httptest.NewRecorder()
	r.Handler(false).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	text, err := io.ReadAll(w.Body)
	require.NoError(t, err)
	return seriesOf(string(text))
}

var (
	series    = regexp.MustCompile(`^(svc_\w+?)(?:\{(.*)\})? `)
	labelPair = regexp.MustCompile(`(\w+)="([^"]*)"`)
	typed     = regexp.MustCompile(`(?m)^# TYPE (svc_\w+) histogram$`)
)

// seriesOf reads Prometheus's text format. The parts of a histogram are one metric.
func seriesOf(text string) map[string]map[string][]string {
	found := map[string]map[string][]string{}
	histograms := map[string]bool{}
	for _, m := range typed.FindAllStringSubmatch(text, -1) {
		histograms[m[1]] = true
	}
	for line := range strings.SplitSeq(text, "\n") {
		m := series.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name := m[1]
		if whole := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, ""); histograms[whole] {
			name = whole
		}
		if found[name] == nil {
			found[name] = map[string][]string{}
		}
		for _, pair := range labelPair.FindAllStringSubmatch(m[2], -1) {
			if pair[1] != "le" && !slices.Contains(found[name][pair[1]], pair[2]) {
				found[name][pair[1]] = append(found[name][pair[1]], pair[2])
			}
		}
	}
	return found
}

func TestSeriesOf(t *testing.T) {
	require.Equal(t, map[string]map[string][]string{"svc_a": {"x": {"1", "2"}}, "svc_b": {}, "svc_c_count": {}},
		seriesOf(
			"# TYPE svc_a histogram\nsvc_a_bucket{x=\"1\",le=\"5\"} 0\nsvc_a_sum{x=\"2\"} 0\nsvc_b 1\nsvc_c_count 1\ngo_x 1\n"))
}

var metricName = regexp.MustCompile(`\bsvc_[a-z_]+[a-z]\b`)

func TestMetrics_AreThoseThatTheProcessesRegister(t *testing.T) {
	registered := everyMetric(t)
	var want, got []string
	for name, labels := range registered {
		want = append(want, name+" "+strings.Join(slices.Sorted(maps.Keys(labels)), ","))
	}
	for _, row := range docstest.TableRows(t, metricsPage, "Names") {
		name, labels, _ := strings.Cut(strings.Trim(row[0], "`}"), "{")
		got = append(got, name+" "+strings.Join(slices.Sorted(strings.SplitSeq(labels, ",")), ","))
		for label, values := range registered[name] {
			if _, list, found := strings.Cut(row[1], label+": "); found {
				list, _, _ = strings.Cut(list, ";")
				require.ElementsMatch(t, values, strings.Split(list, ", "), "%s, %s", name, label)
			}
		}
	}
	require.ElementsMatch(t, want, got)
}

func TestMetrics_NoDocumentAndNoRuleNamesAnotherMetric(t *testing.T) {
	registered := everyMetric(t)
	prefixes := regexp.MustCompile(`^svc_(pk|pk_test|pk_live|cs|whsec)$`)
	for _, page := range slices.DeleteFunc(files(t, ".md", ".alerts.yml", ".rules.yml"), ofThePast) {
		for _, name := range metricName.FindAllString(docstest.ReadFile(t, page), -1) {
			whole := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
			_, is := registered[name]
			_, part := registered[whole]
			if !is && !part && !prefixes.MatchString(name) && !strings.HasPrefix(name, "svc_whsec_") &&
				!strings.HasPrefix(name, "svc_pk_") {
				t.Errorf("%s names %s, which no process registers", page, name)
			}
		}
	}
}

// caught stands for a store; mounting a page calls nothing.
type caught struct{ ports.CaughtMailReader }

func TestPages_AreThoseThatAreMounted(t *testing.T) {
	app := fiber.New()
	account.Mount(app, account.Deps{})
	connect.Mount(app, connect.Deps{})
	dashboard.Mount(app, dashboard.Deps{})
	checkout.Mount(app, checkout.Deps{})
	sandbox.Mount(app, nil)
	caughtmails.Mount(app, caughtmails.Deps{Mails: caught{}})
	var want []string
	parameter := regexp.MustCompile(`:(\w+)`)
	for _, r := range app.GetRoutes(true) {
		if r.Method != fiber.MethodHead && !strings.HasPrefix(r.Path, "/sandbox/assets/") &&
			!strings.HasSuffix(r.Path, ".css") {
			want = append(want, r.Method+" "+parameter.ReplaceAllString(r.Path, "{$1}"))
		}
	}
	var got, fields []string
	for _, row := range docstest.TableRows(t, pagesPage, "Paths and fields") {
		got = append(got, docstest.CodeSpans(row[0])...)
		fields = append(fields, docstest.CodeSpans(row[1])...)
	}
	require.ElementsMatch(t, want, got)

	page := docstest.ReadFile(t, pagesPage)
	fields = append(fields, "csrf_token", "intent")
	constant := regexp.MustCompile(`(?m)^\s+(field|intent)\w+\s*=\s*"(\w+)"`)
	var known []string
	for _, path := range files(t, ".go") {
		if !strings.HasPrefix(path, "adapters/http/") && !strings.HasPrefix(path, "adapters/payments/sandbox/") ||
			strings.HasSuffix(path, "_test.go") {
			continue
		}
		for _, m := range constant.FindAllStringSubmatch(docstest.ReadFile(t, path), -1) {
			if m[1] == "intent" {
				require.Contains(t, page, "intent="+m[2], path)
				continue
			}
			known = append(known, m[2])
			require.Contains(t, fields, m[2], path)
		}
	}
	require.NotEmpty(t, known)
	for _, field := range fields {
		require.Contains(t, append(known, "csrf_token"), field, pagesPage)
	}
}
