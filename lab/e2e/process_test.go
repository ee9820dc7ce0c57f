// Package e2e_test drives the built binaries from outside, as operators, partners and tenants do: real processes, real
// Postgres, real Redis, plain HTTP.
package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
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

func TestMain(m *testing.M) {
	backing.AtExit(func() { _ = os.RemoveAll(binaries.dir) })
	os.Exit(backing.RunTests(m))
}

// binary gives the path of a built command.
func binary(t testing.TB, name string) string {
	t.Helper()
	binaries.once.Do(build)
	require.NoError(t, binaries.err)
	return filepath.Join(binaries.dir, name)
}

func build() {
	if binaries.dir, binaries.err = os.MkdirTemp("", "partnerdeposits-e2e-"); binaries.err != nil {
		return
	}
	out := binaries.dir + string(filepath.Separator)
	if binaries.err = (procs.Build{Race: raced}).Into(context.Background(), out, "http", "dispatcher", "admin"); binaries.err == nil {
		// As `make run` builds it.
		binaries.err = procs.Build{Tags: []string{"lean"}, Race: raced}.Into(context.Background(), out, "sandbox")
	}
}

// process is a running command.
type process struct {
	cmd    *exec.Cmd
	done   chan struct{} // closed after the process has ended
	log    *logBook
	stdout *syncBuffer

	opsURL string // of /livez, /readyz and /metrics
}

// logBook keeps a process's output and finds the address of its ops server.
type logBook struct {
	mu        sync.Mutex
	text      bytes.Buffer
	listening chan string // receives the address of the ops server, once
}

func (l *logBook) follow(r io.Reader) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		l.mu.Lock()
		l.text.Write(append(lines.Bytes(), '\n'))
		l.mu.Unlock()
		var entry struct{ Msg, For, Address string }
		if json.Unmarshal(lines.Bytes(), &entry) == nil && entry.Msg == "listening" && entry.For == "operators" {
			l.listening <- entry.Address
		}
	}
}

func (l *logBook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// start runs a service command and returns after its ops server listens. The process is killed when the test ends.
func start(t testing.TB, name string, environ ...string) *process {
	t.Helper()
	p := &process{
		cmd: exec.Command(binary(t, name)), done: make(chan struct{}),
		log: &logBook{listening: make(chan string, 1)}, stdout: &syncBuffer{},
	}
	p.cmd.Stdout = p.stdout
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "METRICS_ADDR=127.0.0.1:0", "GORACE=halt_on_error=1 exitcode=66"}, environ...)
	stderr, err := p.cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	go func() {
		p.log.follow(stderr)
		_ = p.cmd.Wait() // the exit code is in ProcessState
		close(p.done)
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("log of %s:\n%s", name, tail(p.log.String()))
		}
	})
	select {
	case address := <-p.log.listening:
		p.opsURL = "http://" + address
	case <-p.done:
		require.FailNow(t, name+" ended at once", p.log.String())
	case <-time.After(soon):
		require.FailNow(t, name+" does not listen", p.log.String())
	}
	return p
}

func tail(s string) string {
	const most = 8 << 10
	if len(s) > most {
		return "…" + s[len(s)-most:]
	}
	return s
}

// kill sends SIGKILL, as a crash ends the process.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// stop sends SIGTERM and gives the exit code.
func (p *process) stop(t testing.TB) int {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	return p.exitCode(t)
}

func (p *process) exitCode(t testing.TB) int {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(soon):
		require.FailNow(t, "the process does not end", p.log.String())
	}
	return p.cmd.ProcessState.ExitCode()
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
	path := binary(t, name) // the first use builds the command
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "METRICS_ADDR=127.0.0.1:1"}, environ...) // the doctor finds no process of another test
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var failed *exec.ExitError
	if !errors.As(err, &failed) {
		require.NoError(t, err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
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
