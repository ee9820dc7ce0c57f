package e2e_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/procs"
	"partnerdeposits/lab/receiver"
)

// startUnread starts the binary at path, with its ops server at an address and its log in a full pipe. It returns the
// pipe's other end, from which nobody reads.
func startUnread(t testing.TB, path, ops string, environ []string) (p *process, reader *os.File) {
	t.Helper()
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = reader.Close() }) // a test may have closed it
	if filepath.Dir(path) == binaries.dir {  // a build whose log waits would never start with a full pipe
		require.NoError(t, writer.SetWriteDeadline(time.Now().Add(100*time.Millisecond)))
		_, err = writer.Write(make([]byte, 1<<20)) // fills the pipe
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	}
	return startLogging(t, path, writer, ops, environ), reader
}

// startLogging starts the service command at a path with its log in a file, which it closes.
func startLogging(t testing.TB, path string, file *os.File, ops string, environ []string) *process {
	t.Helper()
	cmd := exec.Command(path) //nolint:gosec,noctx // a binary of this repository, ended below
	cmd.Env = append(slices.Clone(environ), "METRICS_ADDR="+ops)
	cmd.Stderr = file
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	running, err := procs.StartWithDeathSignal(filepath.Base(path), cmd, syscall.SIGKILL)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	t.Cleanup(running.Kill)
	p := &process{Process: running, log: &procs.OutputBuffer{}, opsURL: "http://" + ops}
	require.NoError(t, running.AwaitHTTPOK(t.Context(), p.opsURL+"/livez"))
	return p.ready(t)
}

const unread = "loses lines: its reader does not take them"

// A log shipper that hangs holds up no request. The bound of the lines that wait is a megabyte, and that of the pipe is
// 64 kB.
func TestLog_ThatNobodyReads_HoldsUpNoRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h, _ := startUnread(t, binary(t, "http"), freePort(t), w.environ)
	client := &http.Client{Timeout: soon}
	asked := 0
	for h.metric("svc_log_lines_dropped_total") == 0 {
		for range 500 {
			response, err := client.Get(w.baseURL + "/egress.json")
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			asked++
		}
		require.Less(t, asked, 10_000)
	}
	require.Eventually(t, func() bool { return h.metric("svc_http_requests_in_flight") == 0 }, soon, often)
	require.EqualValues(t, asked,
		h.metric(`svc_http_requests_total{code="404",method="GET",route="/",surface="docs"}`))
	h.awaitStatus(t, http.StatusOK, func(r readiness) bool { return r.Status == "degraded" && r.Checks["log"] == unread })
	code, stdout, _ := run(t, w.environ, "admin", "doctor", "--process", h.opsURL)
	require.Equal(t, 1, code)
	require.Contains(t, stdout, "log "+unread)
	begin := time.Now()
	require.Zero(t, h.stop(t))
	require.Less(t, time.Since(begin), 20*time.Second)
}

func TestLog_ThatNobodyReads_HoldsUpNoDelivery(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "LOG_LEVEL=debug", "WEBHOOK_RETRY_SCHEDULE=0s,1s,1s", "RATE_LIMIT_PER_MINUTE=1000000",
		"RATE_LIMIT_WRITES_PER_MINUTE=1000000")
	w.http(t)
	d, reader := startUnread(t, binary(t, "dispatcher"), freePort(t), w.environ)
	account := w.link(t, "villa-34")
	r := newReceiver(t)
	w.subscribe(t, r)
	r.AnswerWith(func(n int, _ receiver.Webhook) int {
		if n < 20 { // a failed attempt is logged
			return http.StatusInternalServerError
		}
		return http.StatusOK
	})
	for range 4 {
		w.traffic(t, account, 40)
	}
	d.awaitStatus(t, http.StatusOK, func(r readiness) bool { return r.Status == "degraded" && r.Checks["log"] == unread })
	w.traffic(t, account, 40)
	require.Eventually(t, func() bool {
		return d.metric("svc_outbox_pending") == 0 && d.metric(`svc_webhook_deliveries_pending{state="waiting"}`) == 0 &&
			d.metric(`svc_webhook_deliveries_pending{state="dispatched"}`) == 0
	}, soon, often)
	require.NoError(t, reader.Close()) // the shipper ends
	w.traffic(t, account, 1)
	require.Zero(t, d.stop(t))
}

// A shipper that ends takes no service with it, while `admin … | head` ends.
func TestLog_WhoseReaderEnds_EndsNoService(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h, reader := startUnread(t, binary(t, "http"), freePort(t), w.environ)
	require.NoError(t, reader.Close())
	client := &http.Client{Timeout: soon}
	for range 10 {
		response, err := client.Get(w.baseURL + "/egress.json")
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
	}
	require.Eventually(t, func() bool { return h.metric("svc_log_lines_dropped_total") > 0 }, soon, often)
	require.Zero(t, h.stop(t))

	gone, writer, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, gone.Close())
	admin := exec.Command(binary(t, "admin"), "--help") //nolint:gosec,noctx // ends at once
	admin.Stdout = writer
	require.Error(t, admin.Run())
	require.NoError(t, writer.Close())
	status, ok := admin.ProcessState.Sys().(syscall.WaitStatus)
	require.True(t, ok)
	require.Equal(t, syscall.SIGPIPE, status.Signal())
}
