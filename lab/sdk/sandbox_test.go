// Package sdk_test drives the partners' libraries (sdk/) as partners do: each in its own language, against a real
// sandbox, in one script for all.
package sdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
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

// shared is what the tests of this package use together.
var shared struct {
	dir     string
	start   sync.Once // starts the sandbox when the first test needs it
	process *procs.Process
	sandbox facts
	admin   []string // the environment of admin commands for the sandbox
	err     error    // of the start
}

// facts are the addresses of the sandbox, and the credentials of a partner. Their JSON has the names of
// .local/sandbox.json.
type facts struct {
	APIBaseURL       string `json:"apiBaseUrl"`
	DashboardBaseURL string `json:"dashboardBaseUrl"`
	PartnerSlug      string `json:"partnerSlug"`
	ConnectSecret    string `json:"connectSecret"`
	APIKey           string `json:"apiKey"`
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

// newPartner creates a partner in the sandbox of this package. Each test has partners of its own, since a partner may
// send 20 test deliveries a minute and 2 at the same time.
func newPartner(t testing.TB) facts {
	t.Helper()
	shared.start.Do(func() { shared.err = startSandbox(t.Context()) })
	require.NoError(t, shared.err)
	f := shared.sandbox
	f.PartnerSlug = "p-" + uuid.NewString()
	said, err := procs.RunForOutput(t.Context(), procs.ProcessSpec{Name: "admin", Path: filepath.Join(shared.dir, "admin"),
		Args: []string{"partner", "create", "--json", "--slug", f.PartnerSlug, "--name", f.PartnerSlug}, Env: shared.admin})
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal([]byte(said), &f))
	return f
}

// startSandbox builds the sandbox as `make run` does, and runs it with limits that four languages at a time keep.
func startSandbox(ctx context.Context) error {
	build := procs.BuildOptions{}
	if err := build.CompileTo(ctx, shared.dir+string(filepath.Separator), "cmd/sandbox", "cmd/admin"); err != nil {
		return err
	}
	env := slices.DeleteFunc(os.Environ(), func(pair string) bool { // the sandbox starts its own servers
		return strings.HasPrefix(pair, "DATABASE_URL=") || strings.HasPrefix(pair, "REDIS_URL=")
	})
	process, err := procs.Start(procs.ProcessSpec{Name: "sandbox", Path: "env",
		Args: []string{"-C", shared.dir, filepath.Join(shared.dir, "sandbox")},
		Env: append(env, "RATE_LIMIT_PER_MINUTE=60000", "RATE_LIMIT_WRITES_PER_MINUTE=60000",
			"AUTH_ATTEMPTS_PER_MINUTE=600")})
	if err != nil {
		return err
	}
	shared.process = process
	ctx, cancel := context.WithTimeout(ctx, ready)
	defer cancel()
	if err := process.AwaitCondition(ctx, func() error {
		if shared.admin = docstest.AdminSettingsOfTour(process.OutputTail()); shared.admin == nil {
			return errors.New("the sandbox has not printed its tour")
		}
		return nil
	}); err != nil {
		return err
	}
	content, err := os.ReadFile(filepath.Join(shared.dir, ".local", "sandbox.json"))
	if err != nil {
		return err
	}
	return json.Unmarshal(content, &shared.sandbox)
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
