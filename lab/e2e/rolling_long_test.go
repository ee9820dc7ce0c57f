//go:build long

package e2e_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	generator "partnerdeposits/lab/load"
	"partnerdeposits/lab/servetest"
)

// TestLong_RollingRestart_FailsLosesAndRepeatsNothing restarts every process in turn behind haproxy, which asks /readyz
// once a second and repeats no request, under 300 requests a second (operations.md, "Processes").
func TestLong_RollingRestart_FailsLosesAndRepeatsNothing(t *testing.T) {
	w := newWorld(t, "DRAIN_DELAY=5s", "RATE_LIMIT_PER_MINUTE=1000000", "RATE_LIMIT_WRITES_PER_MINUTE=1000000")
	first, second := w.member(t, "http", w.baseURL), w.member(t, "http", "http://"+freePort(t))
	dispatchers := []*member{w.member(t, "dispatcher", ""), w.member(t, "dispatcher", "")}
	r := newReceiver(t)
	w.subscribe(t, r, "deposit.activated")
	account := w.link(t, "villa-16")

	proxy := servetest.StartHAProxy(t, "balance roundrobin", "option httpchk GET /readyz", "http-check expect status 200",
		"default-server inter 1s",
		"server first "+first.addr+" check port "+port(t, first.ops),
		"server second "+second.addr+" check port "+port(t, second.ops))
	awaitUp(t, proxy, "first", "second")
	w.baseURL = "http://" + proxy.Addr

	load := w.load(account)
	for _, step := range []struct {
		m    *member
		name string
	}{{first, "first"}, {second, "second"}, {dispatchers[0], ""}, {dispatchers[1], ""}} {
		load.await(t, 300) // operations between two restarts
		step.m.restart(t)
		if step.name != "" {
			awaitUp(t, proxy, step.name)
		}
	}
	load.await(t, 300)
	done, failures, took := load.end()
	rate := float64(2*len(done)) / took.Seconds()
	t.Logf("figure: %d of %d operations failed in %.0f s, %.0f requests a second", len(failures), len(failures)+len(done),
		took.Seconds(), rate)
	require.Empty(t, failures)
	require.Greater(t, rate, 250.0, "the machine was too busy to send 300 requests a second")

	times := map[string]int{}
	require.Eventually(t, func() bool { return len(r.Accepted()) >= len(done) }, soon, often)
	for _, d := range dispatchers {
		require.Zero(t, d.stop(t), "everything under way is delivered then")
	}
	for _, webhook := range r.All() {
		times[payloadOf(t, webhook).Data.ID]++
	}
	for _, id := range done {
		require.Equal(t, 1, times[id], "deliveries of %s", id)
	}
	require.Len(t, times, len(done))
}

// member is a process that is restarted at its addresses.
type member struct {
	*process
	name, addr, ops string
	environ         []string
}

// member starts a process; baseURL gives the address of an http.
func (w *deployment) member(t *testing.T, name, baseURL string) *member {
	t.Helper()
	m := &member{name: name, addr: strings.TrimPrefix(baseURL, "http://"), ops: freePort(t)}
	m.environ = append(append(m.environ, w.environ...), "METRICS_ADDR="+m.ops)
	if m.addr != "" {
		m.environ = append(m.environ, "HTTP_ADDR="+m.addr)
	}
	m.process = start(t, name, m.environ...).ready(t)
	return m
}

// restart ends the process as a deployment does, and starts it again.
func (m *member) restart(t *testing.T) {
	t.Helper()
	begin := time.Now()
	m.Signal(syscall.SIGTERM)
	require.Zero(t, m.exitCode(t), m.log.String())
	took := time.Since(begin)
	t.Logf("%s ended after %v", m.name, took.Round(time.Millisecond))
	require.Less(t, took, 30*time.Second)
	m.process = start(t, m.name, m.environ...).ready(t)
}

func port(t *testing.T, addr string) string {
	t.Helper()
	_, p, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	return p
}

// awaitUp waits until haproxy sends requests to the servers.
func awaitUp(t *testing.T, proxy servetest.HAProxy, names ...string) {
	t.Helper()
	for _, name := range names {
		require.Eventually(t, func() bool {
			_, body := fetch("http://" + proxy.Stats + "/;csv")
			rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(body, "# "))).ReadAll()
			if err != nil || len(rows) == 0 {
				return false
			}
			for _, row := range rows[1:] {
				if row[0] == "back" && row[1] == name {
					return strings.HasPrefix(row[17], "UP") // the column status
				}
			}
			return false
		}, soon, often, "%s is not up", name)
	}
}

// load creates and activates deposits at a constant rate, two requests each.
type load struct {
	w       *deployment
	account string
	client  *http.Client
	stop    context.CancelFunc
	ended   chan struct{}
	begun   time.Time

	mu       sync.Mutex
	done     []string // ids of deposits that were answered as active
	failures []string
}

const operationsPerSecond = 150

func (w *deployment) load(account string) *load {
	ctx, stop := context.WithCancel(context.Background())
	l := &load{
		w: w, account: account, stop: stop, ended: make(chan struct{}), begun: time.Now(),
		client: &http.Client{Timeout: soon, Transport: &http.Transport{MaxIdleConnsPerHost: 128}},
	}
	go func() {
		defer close(l.ended)
		// until stop
		_, _, _ = generator.Open(ctx, generator.Endless, operationsPerSecond,
			func(int, time.Time) error { l.operation(); return nil })
	}()
	return l
}

func (l *load) operation() {
	id, err := l.post("/deposits", map[string]any{
		"accountId": l.account, "amount": 700, "contractStartAt": "2030-06-01T14:00:00Z",
		"contractEndAt": "2030-06-08T10:00:00Z",
	})
	if err == nil {
		_, err = l.post("/test/deposits/"+id+"/simulate", map[string]any{"outcome": "activate"})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.failures = append(l.failures, err.Error())
		return
	}
	l.done = append(l.done, id)
}

// post sends a request without a second try and gives the id of the deposit.
func (l *load) post(path string, body any) (string, error) {
	encoded, err := json.Marshal(body)
	if err != nil {
		return "", err
	}
	request, err := http.NewRequest(http.MethodPost, l.w.baseURL+"/api/partner/v1"+path, bytes.NewReader(encoded))
	if err != nil {
		return "", err
	}
	request.GetBody = nil // else the client repeats a request with an idempotency key by itself
	request.Header = http.Header{"X-Api-Key": {l.w.apiKey}, "Content-Type": {"application/json"}}
	if path == "/deposits" {
		request.Header.Set("Idempotency-Key", uuid.NewString())
	}
	response, err := l.client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	var answer struct{ Data struct{ ID string } }
	if response.StatusCode >= http.StatusMultipleChoices || json.Unmarshal(raw, &answer) != nil {
		return "", fmt.Errorf("%s: %d %s", path, response.StatusCode, raw)
	}
	return answer.Data.ID, nil
}

// await waits for n further operations.
func (l *load) await(t *testing.T, n int) {
	t.Helper()
	count := func() int {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.done) + len(l.failures)
	}
	until := count() + n
	require.Eventually(t, func() bool { return count() >= until }, soon, often)
}

func (l *load) end() (done, failures []string, took time.Duration) {
	l.stop()
	took = time.Since(l.begun)
	<-l.ended
	l.client.CloseIdleConnections()
	return l.done, l.failures, took
}
