package e2e_test

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/rarely"
	"partnerdeposits/lab/redistest"
)

const (
	quickstartPage = "docs/guides/quickstart.md"
	webhooksPage   = "docs/guides/webhooks.md"
	connectPage    = "docs/guides/connect.md"
	operationsPage = "docs/guides/operations.md"
	debuggingPage  = "docs/guides/debugging.md"

	restoreSection = "\n## Restoring from a backup\n" // the last of operationsPage, which a test of its own runs
)

// runPages are the pages whose ```sh blocks the tests below run.
var runPages = []string{quickstartPage, webhooksPage, connectPage, operationsPage, debuggingPage}

// isRun reports whether tests run the commands of a page. TestLong_Runbooks runs those of runbooks, and TestStart_… of
// lab/sdk those of the first pages of the libraries.
func isRun(page string) bool {
	return slices.Contains(runPages, page) || strings.HasPrefix(page, "docs/runbooks/") ||
		strings.HasPrefix(page, "docs/guides/start-")
}

// namedBlock is code that the page gives a file name: ```python receiver.py.
var namedBlock = regexp.MustCompile("(?s)\n```[a-z]+ ([\\w.-]+)\n(.*?\n)```\n")

// runPage saves the files of a page, and runs its commands in their order, but for the exceptions. after is called with
// the output of the command that holds its key, and each of its functions must be called.
func runPage(t *testing.T, s *docShell, page string, change func(string) string, after map[string]func(output string)) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(repository(), page))
	require.NoError(t, err)
	runText(t, s, page, string(content), change, after)
}

// runText is runPage for a part of a page.
func runText(t *testing.T, s *docShell, page, content string, change func(string) string,
	after map[string]func(output string)) {
	t.Helper()
	for _, file := range namedBlock.FindAllStringSubmatch(content, -1) {
		require.NoError(t, os.WriteFile(filepath.Join(s.dir, file[1]), []byte(file[2]), 0o600))
	}
	ran := 0
	for _, c := range commandsOf(page, content) {
		if _, excepted := exceptionFor(page, c); excepted || !c.script {
			continue
		}
		output := s.run(t, change(c.text))
		ran++
		if strings.HasPrefix(c.text, "curl ") {
			require.Regexp(t, documented, c.text, "%s: a request tells the status of its answer", page)
		}
		for key, do := range after {
			if strings.Contains(c.text, key) {
				do(output)
				delete(after, key)
			}
		}
	}
	require.NotZero(t, ran, page)
	require.Empty(t, after, "%s does not hold these commands", page)
}

// operations gives the page for operators in two parts: the first deployment with all that follows, and the restore.
func operations(t *testing.T) (deployment, restore string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(repository(), operationsPage))
	require.NoError(t, err)
	deployment, restore, found := strings.Cut(string(content), restoreSection)
	require.True(t, found)
	return deployment, restore
}

func asWritten(command string) string { return command }

// TestDocs_ThePagesRunAgainstTheSandbox follows the pages for partners and for debugging, one after the other.
func TestDocs_ThePagesRunAgainstTheSandbox(t *testing.T) {
	t.Parallel()
	if !rarely.MustRun(t, rarely.DocumentTests) {
		return
	}
	sandbox := startSandbox(t, stores(t)...)
	api, key := sandbox.facts["apiBaseUrl"]+"/api/partner/v1", sandbox.facts["apiKey"]
	partner := &apiClient{t: t, base: api, header: http.Header{"X-Api-Key": {key}}}

	_, port, _ := strings.Cut(freePort(t), ":")
	shell := newDocShell(t, sandbox.dir, map[string]string{"PORT": port})
	runPage(t, shell, quickstartPage, asWritten, map[string]func(string){
		`echo "$DASHBOARD/register`: func(output string) { // the operator opens the URL in a browser
			b := newBrowser(t)
			page := b.open(output)
			end := b.submit(page,
				url.Values{"email": {"guide@example.com"}, "password": {"correct-horse"}, "companyName": {"Villa Guide"}})
			require.Equal(t, "/dashboard", end.url.Path)
		},
		`cat receiver.log`: func(output string) { require.Contains(t, output, "verified deposit.activated") },
		`"$API/deposits/$DEPOSIT"`: func(output string) { // the dates of the guide are such that the cover reaches them
			require.Contains(t, output, `"status":"active"`)
			require.Contains(t, output, `"coversContract":true`)
		},
	})

	// The guide's own subscription is the newest; its first delivery appears once a dispatcher has relayed the event.
	require.Eventually(t, func() bool {
		var subscriptions, deliveries struct{ Data []struct{ ID string } }
		partner.get("/webhooks", &subscriptions)
		partner.get("/webhooks/"+subscriptions.Data[0].ID+"/deliveries", &deliveries)
		return len(deliveries.Data) > 0
	}, soon, often)
	given := map[string]string{"API": api, "KEY": key}
	runPage(t, newDocShell(t, sandbox.dir, given), webhooksPage, asWritten, nil)
	runPage(t, newDocShell(t, sandbox.dir, given), connectPage, asWritten, nil)

	given["OPS"] = strings.TrimSuffix(sandbox.facts["dispatcherMetricsUrl"], "/metrics")
	runPage(t, newDocShell(t, sandbox.dir, given), debuggingPage, asWritten, nil)
}

// TestDocs_TheFirstDeploymentRuns follows the page for operators on stores of its own. Only the addresses differ, so
// two processes that the page gives one address fail here too.
func TestDocs_TheFirstDeploymentRuns(t *testing.T) {
	t.Parallel()
	if !rarely.MustRun(t, rarely.DocumentTests) {
		return
	}
	ops := map[string]string{"http": freePort(t), "dispatcher": freePort(t)}
	shell := newDocShell(t, t.TempDir(), map[string]string{
		"DATABASE_URL": pgtest.NewDatabaseURL(t), "REDIS_URL": redistest.EmptyDatabaseURL(t), "HTTP_ADDR": freePort(t),
		"METRICS_ADDR": ops["http"],
	})
	change := func(command string) string {
		return strings.ReplaceAll(command, "METRICS_ADDR=:9091", "METRICS_ADDR="+ops["dispatcher"])
	}
	deployment, _ := operations(t)
	runText(t, shell, operationsPage, deployment, change, map[string]func(string){
		"dispatcher &": func(string) {
			for name, addr := range ops {
				require.Eventually(t, func() bool {
					code, _ := fetch("http://" + addr + "/readyz")
					return code == http.StatusOK
				}, soon, often, name)
			}
		},
	})
}

// TestDocs_TheRestoreRuns follows the section about restores. Redis keeps all that it knows, and a request that is
// repeated after the restore gets a deposit that exists. A follower of the feed notices that numbers were taken back.
func TestDocs_TheRestoreRuns(t *testing.T) {
	t.Parallel()
	if !rarely.MustRun(t, rarely.DocumentTests) {
		return
	}
	before, redisURL := pgtest.NewDatabaseURL(t), redistest.EmptyDatabaseURL(t)
	w := worldOn(t, before, redisURL)
	h := w.http(t)
	account := w.link(t, "villa-21")
	name := "restored_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	restored, err := url.Parse(before)
	require.NoError(t, err)
	restored.Path = "/" + name
	t.Cleanup(func() { dropDatabase(t, before, name) })

	key, lostKey := uuid.NewString(), uuid.NewString()
	kept := w.keyed(t, account, key)
	w.cancelled(t, kept)
	w.relayAll(t) // admin doctor blames events that have waited for 30 s
	var lost, feedID string
	var followed int
	shell := newDocShell(t, t.TempDir(),
		map[string]string{"DATABASE_URL": before, "RESTORED_URL": restored.String(), "REDIS_URL": redisURL})
	change := func(command string) string { return strings.Replace(command, `" restored`, `" `+name, 1) }
	_, restore := operations(t)
	runText(t, shell, operationsPage, restore, change, map[string]func(string){
		"pg_dump": func(string) {
			lost = w.keyed(t, account, lostKey)
			require.Equal(t, lost, w.keyed(t, account, lostKey), "replayed")
			w.cancelled(t, lost)
			w.relayAll(t)
			_, followed, feedID = w.follow(t, 0)
			require.Zero(t, h.stop(t), h.log.String())
		},
		"admin restore-finish": func(output string) { require.Contains(t, output, "epoch") },
	})
	w.environ[0] = "DATABASE_URL=" + restored.String()
	w.http(t)
	status, _, _ := w.follow(t, followed)
	require.Equal(t, http.StatusBadRequest, status, "the number was taken back")
	_, last, anew := w.follow(t, 0)
	require.Equal(t, followed-1, last, "the events of the backup")
	require.NotEqual(t, feedID, anew)
	require.Equal(t, kept, w.keyed(t, account, key), "Postgres has the response")
	status, _, err = w.api(t).do(http.MethodGet, "/deposits/"+lost, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusNotFound, status)
	again := w.keyed(t, account, lostKey)
	status, body, err := w.api(t).do(http.MethodGet, "/deposits/"+again, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status, "the id of a repeated request exists: %s", body)
}

// dropDatabase runs at the end of a test, when the test's own context has ended.
func dropDatabase(t testing.TB, serverURL, name string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	conn, err := pgx.Connect(ctx, serverURL)
	require.NoError(t, err)
	_, err = conn.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
	require.NoError(t, err)
	require.NoError(t, conn.Close(ctx))
}

var (
	sqlBlock = regexp.MustCompile("(?s)```sql\n(.*?)```")
	psqlName = regexp.MustCompile(`:'(\w+)'`)
)

// TestDocs_QueriesRun runs every query of the pages on a database with the current schema.
func TestDocs_QueriesRun(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), pgtest.NewDatabaseURL(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	values := map[string]string{"reference": "D-7K3M-9Q2X", "slug": "acme", "email": "tech@acme.example",
		"id": "pwh_01jb2m4q8e7w9x3c5v6b7n8m9a"}
	ran := 0
	for page, text := range docPages(t) {
		for _, block := range sqlBlock.FindAllStringSubmatch(text, -1) {
			query := psqlName.ReplaceAllStringFunc(block[1], func(variable string) string {
				value, known := values[psqlName.FindStringSubmatch(variable)[1]]
				require.True(t, known, "%s: %s", page, variable)
				return "'" + value + "'"
			})
			_, err := conn.Exec(t.Context(), query)
			require.NoError(t, err, "%s: %s", page, query)
			ran++
			if strings.Contains(query, "-- query: uuid of an id") {
				var uuid [16]byte
				require.NoError(t, conn.QueryRow(t.Context(), query).Scan(&uuid))
				want, ok := id.Subscription.Parse(values["id"])
				require.True(t, ok)
				require.Equal(t, want, id.ID(uuid))
			}
		}
	}
	require.Greater(t, ran, 4)
}
