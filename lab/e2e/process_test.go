// Package e2e_test drives the built binaries from outside, as operators, partners and tenants do: real processes, real
// Postgres, real Redis, plain HTTP. The processes are as they are shipped, without the race detector. Package
// lab/faults runs http and dispatcher with the detector, under load and faults.
package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/backing"
	"partnerdeposits/lab/procs"
)

// Timeouts of these tests, generous for a busy machine.
const (
	soon  = 60 * time.Second
	often = 20 * time.Millisecond
)

var binaries struct {
	once sync.Once
	dir  string
	err  error
}

// parallelTests is the number of tests that run at the same time, unless -parallel tells another: they mostly wait.
const parallelTests = 6

func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", strconv.Itoa(parallelTests)) // a number
	}
	backing.AtExit(func() { _ = os.RemoveAll(binaries.dir) })
	os.Exit(backing.RunTests(m))
}

// binary gives the path of a built command.
func binary(t testing.TB, name string) string {
	t.Helper()
	binaries.once.Do(build)
	require.NoError(t, binaries.err)
	if name == "sandbox" {
		require.NoError(t, buildSandbox())
	}
	return filepath.Join(binaries.dir, name)
}

// build builds the commands as they are shipped: a binary with three names.
func build() {
	if binaries.dir, binaries.err = os.MkdirTemp("", "partnerdeposits-e2e-"); binaries.err != nil {
		return
	}
	var stamp string
	if stamp, binaries.err = stampOfImage(); binaries.err != nil {
		return
	}
	shipped := filepath.Join(binaries.dir, "http")
	whole := procs.BuildOptions{Stamp: stamp}
	if binaries.err = whole.CompileTo(context.Background(), shipped, "cmd/partnerdeposits"); binaries.err != nil {
		return
	}
	binaries.err = errors.Join(os.Link(shipped, filepath.Join(binaries.dir, "dispatcher")),
		os.Link(shipped, filepath.Join(binaries.dir, "admin")))
}

// buildSandbox builds the sandbox, as `make run` does.
var buildSandbox = sync.OnceValue(func() error {
	return procs.BuildOptions{}.CompileTo(context.Background(), filepath.Join(binaries.dir, "sandbox"), "cmd/sandbox")
})

// process is a running command.
type process struct {
	*procs.Process
	log, stdout *procs.OutputBuffer

	opsURL string // of /livez, /readyz and /metrics
}

// start runs a service command and returns after its ops server listens. The process is killed when the test ends.
func start(t testing.TB, name string, environ ...string) *process {
	t.Helper()
	return startAt(t, binary(t, name), name, environ...)
}

// startAt is start with the binary at a path.
func startAt(t testing.TB, path, name string, environ ...string) *process {
	t.Helper()
	p := &process{log: &procs.OutputBuffer{}, stdout: &procs.OutputBuffer{}}
	env := append([]string{"PATH=" + os.Getenv("PATH"), "METRICS_ADDR=127.0.0.1:0"}, environ...)
	var err error
	p.Process, err = procs.Start(procs.ProcessSpec{Name: name, Path: path, Env: env, Log: p.log, Stdout: p.stdout})
	require.NoError(t, err)
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("log of %s:\n%s", name, p.OutputTail())
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	require.NoError(t, p.AwaitCondition(ctx, p.findOps))
	return p
}

// findOps reads the log, where the process says that it listens for operators.
func (p *process) findOps() error {
	for line := range strings.Lines(p.OutputTail()) {
		var entry struct{ Msg, For, Address string }
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "listening" && entry.For == "operators" {
			p.opsURL = "http://" + entry.Address
			return nil
		}
	}
	return errors.New("it does not listen")
}

// stop sends SIGTERM and gives the exit code.
func (p *process) stop(t testing.TB) int {
	t.Helper()
	p.Signal(syscall.SIGTERM)
	return p.exitCode(t)
}

func (p *process) exitCode(t testing.TB) int {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(soon):
		require.FailNow(t, "the process does not end", p.log.String())
	}
	return p.ExitCode()
}

// ready waits until /readyz answers 200.
func (p *process) ready(t testing.TB) *process {
	t.Helper()
	p.awaitStatus(t, http.StatusOK, func(readiness) bool { return true })
	return p
}

// readiness is the response of /readyz.
type readiness struct {
	Status string
	Checks map[string]string
	Ages   map[string]struct{ AnswerSeconds, SuccessSeconds *float64 }
}

// awaitStatus waits until /readyz answers with the status and a response that says accepts.
func (p *process) awaitStatus(t testing.TB, status int, says func(readiness) bool) {
	t.Helper()
	var last string
	require.Eventually(t, func() bool {
		code, body := fetch(p.opsURL + "/readyz")
		last = fmt.Sprint(code, " ", body)
		var r readiness
		return code == status && json.Unmarshal([]byte(body), &r) == nil && says(r)
	}, soon, often, "readyz: %s", lazy(func() string { return last }))
}

// lazy is a message that is made only when a test fails.
type lazy func() string

func (l lazy) String() string { return l() }

var plain = &http.Client{Timeout: soon}

func fetch(url string) (int, string) {
	response, err := plain.Get(url)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(body)
}

// run executes a command to its end.
func run(t testing.TB, environ []string, name string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return runAt(t, binary(t, name), environ, args...) // the first use builds the command
}

// runAt is run with the binary at a path.
func runAt(t testing.TB, path string, environ []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	// the doctor finds no process of another test
	env := append([]string{"PATH=" + os.Getenv("PATH"), "METRICS_ADDR=127.0.0.1:1"}, environ...)
	ended, err := procs.Run(ctx, procs.ProcessSpec{Name: filepath.Base(path), Path: path, Args: args, Env: env})
	require.NoError(t, err)
	return ended.Code, ended.Stdout, ended.Stderr
}

// freePort gives a free address.
func freePort(t testing.TB) string {
	t.Helper()
	port, err := backing.FreePort()
	require.NoError(t, err)
	return fmt.Sprintf("127.0.0.1:%d", port)
}

// metric reads a series of a process; 0 for an absent series.
func (p *process) metric(series string) float64 {
	_, body := fetch(p.opsURL + "/metrics")
	for line := range strings.SplitSeq(body, "\n") {
		if rest, ok := strings.CutPrefix(line, series+" "); ok {
			var v float64
			_, _ = fmt.Sscan(rest, &v)
			return v
		}
	}
	return 0
}
