package e2e_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/redistest"
)

const (
	quickstartPage = "docs/guides/quickstart.md"
	webhooksPage   = "docs/guides/webhooks.md"
	connectPage    = "docs/guides/connect.md"
	operationsPage = "docs/guides/operations.md"
	debuggingPage  = "docs/guides/debugging.md"
	restorePage    = "docs/guides/restore.md"
)

// runPages are the pages whose ```sh blocks the tests below run.
var runPages = []string{quickstartPage, webhooksPage, connectPage, operationsPage, debuggingPage, restorePage}

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
	for _, file := range namedBlock.FindAllStringSubmatch(string(content), -1) {
		require.NoError(t, os.WriteFile(filepath.Join(s.dir, file[1]), []byte(file[2]), 0o600))
	}
	ran := 0
	for _, c := range commandsOf(page, string(content)) {
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

func asWritten(command string) string { return command }

// TestDocs_ThePagesRunAgainstTheSandbox follows the pages for partners and for debugging, one after the other.
func TestDocs_ThePagesRunAgainstTheSandbox(t *testing.T) {
	t.Parallel()
	sandbox := startSandbox(t)
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
	ops := map[string]string{"http": freePort(t), "dispatcher": freePort(t)}
	shell := newDocShell(t, t.TempDir(), map[string]string{
		"DATABASE_URL": pgtest.URL(t), "REDIS_URL": redistest.URL(t), "HTTP_ADDR": freePort(t), "METRICS_ADDR": ops["http"],
	})
	change := func(command string) string {
		return strings.ReplaceAll(command, "METRICS_ADDR=:9091", "METRICS_ADDR="+ops["dispatcher"])
	}
	runPage(t, shell, operationsPage, change, map[string]func(string){
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
