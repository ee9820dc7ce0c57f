// Package sdk_test drives the partners' libraries (sdk/) as partners do: each in its own language, against a real
// sandbox, in one script for all.
package sdk_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/backing"
	"partnerdeposits/lab/docstest"
	"partnerdeposits/lab/procs"
	"partnerdeposits/lab/rarely"
)

// Timeouts of these tests, generous for a busy machine.
const (
	soon  = 60 * time.Second
	ready = 5 * time.Minute // of the sandbox, which makes servers and a schema while other packages compile
	often = 20 * time.Millisecond
)

// shared is what the tests of this package use together: it is made when the first test asks.
var shared struct {
	dir     string
	sandbox sync.Once
	process *procs.Process
	err     error
}

// facts are the sandbox's addresses and credentials, as .local/sandbox.json tells them.
type facts struct {
	APIBaseURL, DashboardBaseURL, PartnerSlug, ConnectSecret, APIKey string
}

func TestMain(m *testing.M) {
	backing.AtExit(func() {
		if shared.process != nil {
			_ = shared.process.Stop(soon)
		}
		_ = os.RemoveAll(shared.dir)
	})
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if shared.dir, shared.err = os.MkdirTemp("", "partnerdeposits-sdk-"); shared.err != nil {
		panic(shared.err)
	}
	return backing.RunTests(m)
}

// startSandbox gives the running sandbox of this package.
func startSandbox(t testing.TB) facts {
	t.Helper()
	shared.sandbox.Do(func() { shared.err = beginSandbox(t) })
	require.NoError(t, shared.err)
	file := filepath.Join(shared.dir, ".local", "sandbox.json")
	var told facts // of this call: tests call at the same time
	require.Eventually(t, func() bool {
		content, err := os.ReadFile(file)
		return err == nil && json.Unmarshal(content, &told) == nil
	}, ready, often, "the sandbox is ready")
	return told
}

// beginSandbox builds the sandbox as `make run` does, and runs it with limits that four languages at a time keep.
func beginSandbox(t testing.TB) error {
	binary := filepath.Join(shared.dir, "sandbox")
	if err := (procs.BuildOptions{}).CompileTo(t.Context(), binary, "cmd/sandbox"); err != nil {
		return err
	}
	env := slices.DeleteFunc(os.Environ(), func(pair string) bool { // the sandbox starts its own servers
		return strings.HasPrefix(pair, "DATABASE_URL=") || strings.HasPrefix(pair, "REDIS_URL=")
	})
	env = append(env, "RATE_LIMIT_PER_MINUTE=60000", "RATE_LIMIT_WRITES_PER_MINUTE=60000", "AUTH_ATTEMPTS_PER_MINUTE=600")
	process, err := procs.Start(
		procs.ProcessSpec{Name: "sandbox", Path: "env", Args: []string{"-C", shared.dir, binary}, Env: env})
	shared.process = process
	return err
}

// language is a library with its driver: the program of its tests that performs cases.
type language struct {
	name   string
	folder string // below sdk/
	driver []string
}

// python is Debian's, which has the frameworks that the tests use.
const python = "/usr/bin/python3"

func languages() []language {
	return []language{
		{"php", "php", []string{"php", "php/tests/vectors.php"}},
		{"node", "node", []string{"node", "node/test/vectors.mjs"}},
		{"python", "python", []string{python, "python/tests/vectors.py"}},
		{"go", "go", []string{"go/vectors"}},
	}
}

// golang is the language whose library is always tested. The others are tested rarely.
const golang = "go"

// forEach runs a test of every language that has to be tested, side by side.
func forEach(t *testing.T, test func(t *testing.T, l language)) {
	t.Helper()
	all := rarely.MustRun(t, rarely.LibraryTests)
	for _, l := range languages() {
		if l.name != golang && !all {
			continue
		}
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			test(t, l)
		})
	}
}

func sdk() string { return filepath.Join(docstest.RepositoryRoot(), "sdk") }

// command makes the command of a language's driver for the libraries in the folder root.
func (l language) command(ctx context.Context, t testing.TB, root string, args ...string) *exec.Cmd {
	t.Helper()
	argv := slices.Concat(l.driver, args)
	if l.name == "go" {
		argv[0] = goDriver(t, root)
	}
	cmd := procs.Command(ctx, argv[0], argv[1:]...) //nolint:gosec // programs of this repository
	cmd.Dir = root
	return cmd
}

var goDrivers sync.Map // by folder of the libraries: a function that builds the driver once

func goDriver(t testing.TB, root string) string {
	t.Helper()
	build, _ := goDrivers.LoadOrStore(root, sync.OnceValues(func() (string, error) {
		path := filepath.Join(shared.dir, strings.NewReplacer("/", "-").Replace(root)+"-vectors")
		cmd := exec.Command("go", "build", "-o", path, "./internal/vectors") //nolint:gosec // a path of these tests
		cmd.Dir = filepath.Join(root, "go")
		said, err := cmd.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, said)
		}
		return path, err
	}))
	path, err := build.(func() (string, error))()
	require.NoError(t, err)
	return path
}
