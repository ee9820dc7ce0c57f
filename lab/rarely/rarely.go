// Package rarely tells whether tests have to run whose subject seldom changes, and which need much of a machine:
// foreign languages and frameworks, the commands that documents show, dashboards.
//
//	func TestFramework_ReadsTheRawBody(t *testing.T) {
//		if !rarely.Has(t, rarely.Libraries) {
//			return
//		}
//
// They run where CI=true. Elsewhere they run once the files that they test differ from those of their last green run
// on this machine, which .local/rarely keeps. Without such a run, the files of the branch that the checkout follows
// count as tested.
package rarely

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
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
		"deployments/grafana", "adapters/metrics", "adapters/http/ops", "lab/e2e/monitoring*_test.go"},
		[]string{"prometheus"}}
	// Deployments are the files from which others start the processes.
	Deployments = Group{"deployments", []string{"deployments/compose.yaml", "deployments/systemd", "process/config"},
		[]string{"docker-compose", "systemd-analyze"}}

	groups = []Group{Libraries, Documents, Monitoring, Deployments}
)

// Has reports whether a test of the group has to run, and keeps its success. What the test needs is installed then.
func Has(t *testing.T, g Group) bool {
	t.Helper()
	root, folder, err := place()
	if err != nil {
		t.Fatal(err)
	}
	now, err := g.hash(root)
	if err != nil {
		t.Fatal(err)
	}
	record := filepath.Join(g.records(root), strings.ReplaceAll(folder, "/", ".")+"."+t.Name())
	if !g.due(root, now, record) {
		t.Logf("nothing has changed that this test tests since it was green (CI=true runs it; group %s)", g.Name)
		return false
	}
	install, _ := installed.LoadOrStore(g.Name, sync.OnceValue(func() error { return g.install(root) }))
	if err := install.(func() error)(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !t.Failed() {
			_ = os.MkdirAll(filepath.Dir(record), 0o750) // a run that cannot be kept is repeated
			_ = os.WriteFile(record, []byte(now), 0o600)
		}
	})
	return true
}

var installed sync.Map // by group: func() error

func (g Group) install(root string) error {
	//nolint:gosec,noctx // names of the list above; it ends by itself
	said, err := exec.Command(filepath.Join(root, "scripts/ensure-debian.sh"), g.Needs...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("rarely: %w: %s", err, said)
	}
	return err
}

// place gives the root of the repository, and the folder of the package under test below it.
func place() (root, folder string, err error) {
	here, err := os.Getwd()
	for root = here; err == nil; root = filepath.Dir(root) {
		if _, missing := os.Stat(filepath.Join(root, "go.mod")); missing == nil || root == filepath.Dir(root) {
			break
		}
	}
	if err != nil {
		return "", "", err
	}
	folder, err = filepath.Rel(root, here)
	return root, filepath.ToSlash(folder), err
}

// records is the folder of the green runs, a file for each test.
func (g Group) records(root string) string { return filepath.Join(root, ".local", "rarely", g.Name) }

// Needs lists what scripts/ensure-debian.sh has to install for the groups of which a test has to run. root is that of
// the repository.
func Needs(root string) (needs []string, err error) {
	for _, g := range groups {
		now, err := g.hash(root)
		if err != nil {
			return nil, err
		}
		records, err := filepath.Glob(filepath.Join(g.records(root), "*"))
		if err != nil {
			return nil, err
		}
		if len(records) == 0 && g.due(root, now, "") || slices.ContainsFunc(records, func(record string) bool {
			return g.due(root, now, record)
		}) {
			needs = append(needs, g.Needs...)
		}
	}
	slices.Sort(needs)
	return slices.Compact(needs), nil
}

// due reports whether a test has to run whose last green run is kept at the path record.
func (g Group) due(root, now, record string) bool {
	if os.Getenv("CI") == "true" {
		return true
	}
	green, err := os.ReadFile(record)
	if err != nil {
		return g.differs(root)
	}
	return string(green) != now
}

// differs reports whether files of the group differ from those of the branch that the checkout follows, or from its
// last commit where it follows none. Without a repository of git, nothing differs.
func (g Group) differs(root string) bool {
	git := func(args ...string) (string, error) {
		cmd := exec.Command("git", args...) //nolint:noctx // it ends by itself
		cmd.Dir = root
		said, err := cmd.Output()
		return strings.TrimSpace(string(said)), err
	}
	base, err := git("rev-parse", "--verify", "--quiet", "@{upstream}")
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

// made are folders of generated files.
var made = []string{"node_modules", "vendor", "__pycache__", ".mypy_cache", ".pytest_cache", ".phpunit.cache"}

// hash is of the names and the contents of the group's files.
func (g Group) hash(root string) (string, error) {
	sum := sha256.New()
	for _, pattern := range g.Paths {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(found) == 0 {
			return "", fmt.Errorf("rarely: %s names no file: %w", pattern, err)
		}
		for _, path := range found {
			if err := filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
				switch {
				case err != nil:
					return err
				case entry.IsDir() && slices.Contains(made, entry.Name()):
					return fs.SkipDir
				case !entry.Type().IsRegular() || strings.HasSuffix(path, ".pyc"):
					return nil
				}
				content, err := os.ReadFile(path)
				fmt.Fprintf(sum, "%s %d\n%s", strings.TrimPrefix(path, root), len(content), content)
				return err
			}); err != nil {
				return "", err
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
