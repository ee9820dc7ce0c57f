// Package rarely decides whether to run a test whose subject seldom changes, and which needs much CPU time or many
// installed programs: tests of libraries in other languages and their frameworks, of commands that documents show,
// of dashboards, and of how pages look.
//
//	func TestFramework_ReadsTheRawBody(t *testing.T) {
//		if !rarely.MustRun(t, rarely.LibraryTests) {
//			return
//		}
//
// They run where CI=true. Elsewhere they run only if the files that they test differ from those at which the
// checkout left the branch that it follows.
package rarely

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"partnerdeposits/lab/docstest"
	"partnerdeposits/lab/procs"
)

// TestGroup is a group of rarely run tests with one subject.
type TestGroup struct {
	Name string
	// The tested files and folders, from the repository's root; "*" is any name.
	Paths []string
	// Programs that scripts/ensure-debian.sh must install for the tests.
	Needs []string
}

// Tests of these groups run only when the files that they test have changed.
var (
	// LibraryTests test the partners' libraries in other languages than Go.
	LibraryTests = TestGroup{"libraries", []string{"sdk", "lab/sdk", "adapters/http/partnerapi/openapi.yaml",
		"docs/guides/*.md"}, []string{"php", "node", "npm", "python", "curl"}}
	// DocumentTests test the commands that documents show, and the sandbox's tours.
	DocumentTests = TestGroup{"documents", []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "Makefile", "docs",
		"scripts",
		"cmd", "process/admin", "lab/e2e/docs*_test.go", "lab/e2e/tour_test.go", "lab/e2e/sandbox_test.go", "lab/stripetest"},
		[]string{"curl", "pg_dump", "php", "node", "python"}}
	// MonitoringTests test the files of Prometheus and Grafana.
	MonitoringTests = TestGroup{"monitoring", []string{"deployments/prometheus", "deployments/prometheus.yml",
		"deployments/grafana",
		"adapters/metrics", "adapters/http/ops", "lab/e2e/monitoring*_test.go"}, []string{"prometheus"}}
	// PageTests test how pages look. How pages behave in a browser is always tested.
	PageTests = TestGroup{"pages", []string{"adapters/http", "lab/browsertest"}, []string{"chromium"}}
	// DeploymentTests test the files with which operators start the processes.
	DeploymentTests = TestGroup{"deployments", []string{"deployments/compose.yaml", "deployments/systemd",
		"process/config"},
		[]string{"docker-compose", "systemd-analyze"}}
)

// MustRun reports whether a group's test must run, and then installs what it needs.
func MustRun(t *testing.T, g TestGroup) bool {
	t.Helper()
	// Go's test cache does not notice a change of the files that git reads.
	procs.PreventTestCaching()
	if !g.due(docstest.RepositoryRoot()) {
		t.Logf("nothing has changed that this test tests (CI=true runs it; group %s)", g.Name)
		return false
	}
	install, _ := installed.LoadOrStore(g.Name,
		sync.OnceValue(func() error { return procs.EnsureDebianPackages(g.Needs...) }))
	if err := install.(func() error)(); err != nil {
		t.Fatal(err)
	}
	return true
}

// Functions that install the programs of a group of tests once, by its name.
var installed sync.Map

// due reports whether CI=true or a group's files differ from the branch that the checkout follows, or from the
// last commit if it follows none. Without a git repository it returns false.
func (g TestGroup) due(root string) bool {
	if os.Getenv("CI") == "true" {
		return true
	}
	git := func(args ...string) (string, error) {
		said, err := exec.Command("git", append([]string{"-C", root}, args...)...).Output() //nolint:gosec,noctx // as above
		return strings.TrimSpace(string(said)), err
	}
	base, err := git("merge-base", "@{upstream}", "HEAD")
	if err != nil {
		base = "HEAD"
	}
	changed, err := git(append([]string{"diff", "--name-only", base, "--"}, g.Paths...)...)
	if err != nil {
		return false
	}
	added, err := git(append([]string{"ls-files", "--others", "--exclude-standard", "--"}, g.Paths...)...)
	return err == nil && changed+added != ""
}
