package e2e_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/procs"
)

// sandbox is a running `make run`.
type sandbox struct {
	cmd    *exec.Cmd
	dir    string
	done   chan struct{}
	stderr *procs.OutputBuffer
	mu     sync.Mutex
	lines  []string // of its standard output
	facts  map[string]string
}

// ready bounds the start of a sandbox, which makes servers and a schema while a cold machine compiles beside it.
const ready = 5 * time.Minute

// startSandbox runs the sandbox in a directory of its own and returns after sandbox.json appears. It starts servers of
// its own unless environ names some.
func startSandbox(t testing.TB, environ ...string) *sandbox {
	t.Helper()
	s := &sandbox{cmd: exec.Command(binary(t, "sandbox")), dir: t.TempDir(), done: make(chan struct{}),
		stderr: &procs.OutputBuffer{}}
	s.cmd.Dir = s.dir
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); name != "DATABASE_URL" && name != "REDIS_URL" {
			s.cmd.Env = append(s.cmd.Env, pair)
		}
	}
	s.cmd.Env = append(s.cmd.Env, environ...)
	stdout, err := s.cmd.StdoutPipe()
	require.NoError(t, err)
	s.cmd.Stderr = s.stderr
	begin := time.Now()
	require.NoError(t, s.cmd.Start())
	go func() {
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			s.mu.Lock()
			s.lines = append(s.lines, lines.Text())
			s.mu.Unlock()
		}
		_ = s.cmd.Wait() // the exit code is in ProcessState
		close(s.done)
	}()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		<-s.done
		if t.Failed() {
			t.Logf("sandbox printed:\n%s\n%s", s.output(), s.stderr.String())
		}
	})
	require.Eventually(t, func() bool {
		select {
		case <-s.done:
			require.FailNow(t, "the sandbox ended")
		default:
		}
		content, err := os.ReadFile(s.file())
		return err == nil && json.Unmarshal(content, &s.facts) == nil
	}, ready, often, "ready")
	t.Logf("ready after %s", time.Since(begin).Round(time.Millisecond))
	return s
}

func (s *sandbox) file() string { return filepath.Join(s.dir, ".local", "sandbox.json") }

func (s *sandbox) output() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "\n")
}

// TestSandbox_TheTourWorksAndCtrlCLeavesNothing is the first run of a newcomer, with a second sandbox beside it.
func TestSandbox_TheTourWorksAndCtrlCLeavesNothing(t *testing.T) {
	t.Parallel()
	s := startSandbox(t)

	wanted := []string{
		"apiBaseUrl", "apiKey", "connectSecret", "connectUrl", "dashboardBaseUrl", "dispatcherMetricsUrl", "httpMetricsUrl",
		"partnerId", "partnerSlug", "receiverUrl",
	}
	var names []string
	for name, value := range s.facts {
		names = append(names, name)
		require.NotEmpty(t, value, name)
	}
	slices.Sort(names)
	require.Equal(t, wanted, names)
	for _, metrics := range []string{"httpMetricsUrl", "dispatcherMetricsUrl"} {
		code, body := fetch(s.facts[metrics])
		require.Equal(t, http.StatusOK, code)
		require.Contains(t, body, "svc_build_info")
	}

	out := runTour(t, s, nil)
	requireEveryStep(t, out)
	require.Contains(t, s.tour(t), "/simulate")
	// The receiver has printed every webhook, and accepts the rotated secret.
	for _, event := range []string{"rental_operator.linked", "deposit.activated", "deposit.captured",
		"deposit.cancelled"} {
		require.Eventually(t, func() bool {
			return strings.Contains(s.output(), "✔ ") && strings.Contains(s.output(), " "+event+"  ")
		}, soon, often, event)
	}
	// The payload does not tell the captured part, so the receiver asks for it.
	for _, line := range []string{"active → captured  120.50 EUR of 700.00 EUR", "learnt the new signing secret"} {
		require.Eventually(t, func() bool { return strings.Contains(s.output(), line) }, soon, often, line)
	}
	require.NotContains(t, s.output(), "✘")

	requirePagesOfTour(t, s, "/dashboard", "/styleguide", "/sandbox/mails")
	code, partners, stderr := run(t, s.adminEnviron(t), "admin", "partner", "list")
	require.Zero(t, code, stderr)
	require.Contains(t, partners, "demo")

	requireRoomForASecond(t, s)
	family := descendants(t, s.cmd.Process.Pid)
	require.NotEmpty(t, family, "Postgres and Redis")
	require.NoError(t, s.cmd.Process.Signal(os.Interrupt))
	select {
	case <-s.done:
	case <-time.After(soon):
		require.FailNow(t, "the sandbox does not end")
	}
	require.Zero(t, s.cmd.ProcessState.ExitCode())
	require.NoFileExists(t, s.file())
	for _, pid := range family {
		require.Eventually(t, func() bool { return syscall.Kill(pid, 0) != nil }, soon, often, "process %d is left behind",
			pid)
	}
}

// descendants lists the processes below root.
func descendants(t testing.TB, root int) []int {
	t.Helper()
	require.Equal(t, "linux", runtime.GOOS, "processes are looked for in /proc")
	parents := map[int][]int{}
	entries, err := os.ReadDir("/proc")
	require.NoError(t, err)
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue // the process has ended meanwhile
		}
		var parent int
		var state string
		_, rest, _ := strings.Cut(string(stat), ") ")
		if _, err := fmt.Sscan(rest, &state, &parent); err == nil {
			parents[parent] = append(parents[parent], pid)
		}
	}
	var all []int
	for next := []int{root}; len(next) > 0; next = next[1:] {
		all = append(all, parents[next[0]]...)
		next = append(next, parents[next[0]]...)
	}
	return all
}

// requireRoomForASecond starts a sandbox beside the first. It replaces taken ports and reports the replacement. Its 503
// leaves a line with the cause: whoever tries the service out has no other place to look.
func requireRoomForASecond(t *testing.T, first *sandbox) {
	t.Helper()
	metrics := freePort(t)
	second := startSandbox(t, "METRICS_ADDR="+metrics)
	require.Equal(t, "http://"+metrics+"/metrics", second.facts["httpMetricsUrl"])
	require.Contains(t, second.output(), "the metrics of http at "+metrics+", as METRICS_ADDR says")
	for _, name := range []string{"apiBaseUrl", "receiverUrl", "httpMetricsUrl", "dispatcherMetricsUrl"} {
		require.NotEqual(t, first.facts[name], second.facts[name])
	}
	if place := strings.TrimPrefix(second.facts["apiBaseUrl"], "http://"); place != "127.0.0.1:8080" {
		require.Contains(t, second.output(), "127.0.0.1:8080 is taken; the service at "+place+" instead")
	}
	told := strings.Count(first.output(), "✔ ")
	b := newBrowser(t)
	page := b.open(second.facts["connectUrl"])
	require.Equal(t, "/dashboard",
		b.submit(page, url.Values{"password": {"correct-horse"}, "email": {"o@example.com"}, "companyName": {"O"}}).url.Path)
	require.Eventually(t, func() bool { return strings.Contains(second.output(), "✔ ") }, soon, often)
	require.Equal(t, told, strings.Count(first.output(), "✔ "))

	require.NotContains(t, second.stderr.String(), "SECRETS_KEYSET", "the sandbox's own keyset is no news")
	for _, pid := range descendants(t, second.cmd.Process.Pid) {
		if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil && string(name) == "postgres\n" {
			_ = syscall.Kill(pid, syscall.SIGKILL) // or the process has ended meanwhile
		}
	}
	api := &apiClient{t: t, base: second.facts["apiBaseUrl"] + "/api/partner/v1",
		header: http.Header{"X-Api-Key": {second.facts["apiKey"]}}}
	require.Eventually(t, func() bool {
		status, _, err := api.do(http.MethodGet, "/accounts", nil)
		return err == nil && status == http.StatusServiceUnavailable
	}, soon, often)
	line := regexp.MustCompile(
		`level=WARN msg="request failed" .*status=503 .*route=/api/partner/v1/accounts cause="[^"]+"`)
	require.Eventually(t, func() bool { return line.MatchString(second.stderr.String()) }, soon, often, "%s",
		second.stderr)
}
