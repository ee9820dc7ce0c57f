// Package rarely tells whether a test has to run whose subject seldom changes, and which needs much CPU time or many
// installed programs: tests of libraries in other languages and their frameworks, of commands that documents show, of
// dashboards, and of how pages look.
//
//	func TestFramework_ReadsTheRawBody(t *testing.T) {
//		if !rarely.Has(t, rarely.Libraries) {
//			return
//		}
//
// They run where CI=true. Elsewhere they run while the files that they test differ from those at which the checkout
// left the branch that it follows.
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

// Group is a subject of tests.
type Group struct {
	Name  string
	Paths []string // the files and folders that its tests test, from the root; "*" stands for any name
	Needs []string // what scripts/ensure-debian.sh installs for its tests
}

// The groups.
var (
	// Libraries are the partners' libraries in other languages than Go, with their frameworks and their pages.
	Libraries = Group{"libraries", []string{"sdk", "lab/sdk", "adapters/http/partnerapi/openapi.yaml",
		"docs/guides/*.md"}, []string{"php", "node", "npm", "python", "curl"}}
	// Documents are the commands that documents show, and the printed tours of the sandbox.
	Documents = Group{"documents", []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "Makefile", "docs", "scripts",
		"cmd", "process/admin", "lab/e2e/docs*_test.go", "lab/e2e/tour_test.go", "lab/e2e/sandbox_test.go", "lab/stripetest"},
		[]string{"curl", "pg_dump", "php", "node", "python"}}
	// Monitoring is what Prometheus and Grafana read.
	Monitoring = Group{"monitoring", []string{"deployments/prometheus", "deployments/prometheus.yml",
		"deployments/grafana",
		"adapters/metrics", "adapters/http/ops", "lab/e2e/monitoring*_test.go"}, []string{"prometheus"}}
	// Pages are looked at in both colour schemes and languages, on a phone and a desktop. How they behave in a browser is
	// tested always.
	Pages = Group{"pages", []string{"adapters/http", "lab/browsertest"}, []string{"chromium"}}
	// Deployments are the files from which others start the processes.
	Deployments = Group{"deployments", []string{"deployments/compose.yaml", "deployments/systemd", "process/config"},
		[]string{"docker-compose", "systemd-analyze"}}
)

// Has reports whether a test of the group has to run. What the test needs is installed then.
func Has(t *testing.T, g Group) bool {
	t.Helper()
	procs.Uncached() // Go does not see the files that git reads
	if !g.due(docstest.Root()) {
		t.Logf("nothing has changed that this test tests (CI=true runs it; group %s)", g.Name)
		return false
	}
	install, _ := installed.LoadOrStore(g.Name, sync.OnceValue(func() error { return procs.EnsureDebian(g.Needs...) }))
	if err := install.(func() error)(); err != nil {
		t.Fatal(err)
	}
	return true
}

var installed sync.Map // by group: func() error

// due reports whether the tests of the group have to run. A checkout that follows no branch is compared with its last
// commit. Without a repository of git, nothing differs.
func (g Group) due(root string) bool {
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
