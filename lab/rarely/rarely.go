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

// TestGroup is a group of rarely run tests with the same subject.
type TestGroup struct {
	Name string
	// The files and folders that the group tests, from the repository's root; "*" stands for any name.
	Paths []string
	// The programs that scripts/ensure-debian.sh must install for the tests.
	Needs []string
}

// The groups of tests that run only when the files that they test have changed.
var (
	// LibraryTests are the tests of the partners' libraries in other languages than Go, with their frameworks and
	// their pages.
	LibraryTests = TestGroup{"libraries", []string{"sdk", "lab/sdk", "adapters/http/partnerapi/openapi.yaml",
		"docs/guides/*.md"}, []string{"php", "node", "npm", "python", "curl"}}
	// DocumentTests are the tests of the commands that documents show, and the printed tours of the sandbox.
	DocumentTests = TestGroup{"documents", []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "Makefile", "docs",
		"scripts",
		"cmd", "process/admin", "lab/e2e/docs*_test.go", "lab/e2e/tour_test.go", "lab/e2e/sandbox_test.go", "lab/stripetest"},
		[]string{"curl", "pg_dump", "php", "node", "python"}}
	// MonitoringTests are the tests of the files that Prometheus and Grafana read.
	MonitoringTests = TestGroup{"monitoring", []string{"deployments/prometheus", "deployments/prometheus.yml",
		"deployments/grafana",
		"adapters/metrics", "adapters/http/ops", "lab/e2e/monitoring*_test.go"}, []string{"prometheus"}}
	// PageTests are the tests of how pages look in both colour schemes and languages, on a phone and a desktop. How
	// pages behave in a browser is always tested.
	PageTests = TestGroup{"pages", []string{"adapters/http", "lab/browsertest"}, []string{"chromium"}}
	// DeploymentTests are the tests of the files from which operators of the service start its processes.
	DeploymentTests = TestGroup{"deployments", []string{"deployments/compose.yaml", "deployments/systemd",
		"process/config"},
		[]string{"docker-compose", "systemd-analyze"}}
)

// MustRun reports whether a test of a group must run. true: it must, and what it needs is installed; false: nothing
// that it tests has changed.
func MustRun(t *testing.T, g TestGroup) bool {
	t.Helper()
	// Prevent Go from caching the test's result, since the cache does not notice a change of the files that git
	// reads.
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

// For each group of tests, by name, a func() error that installs the group's programs once.
var installed sync.Map

// due reports whether the tests of a group must run. true: CI=true, or their files have changed since the branch
// that the checkout follows (or since the last commit, if it follows none). false: nothing has changed, or there
// is no git repository.
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
