//go:build long

package e2e_test

import (
	"encoding/csv"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/servetest"
)

// rolling are the settings of processes that are restarted under load.
var rolling = []string{"DRAIN_DELAY=5s", "RATE_LIMIT_PER_MINUTE=1000000", "RATE_LIMIT_WRITES_PER_MINUTE=1000000",
	"TRUSTED_PROXIES=127.0.0.1"}

// fleet is two http behind haproxy, and two dispatchers.
type fleet struct {
	w           *deployment
	https       []*member
	dispatchers []*member
	proxy       servetest.HAProxy
	besides     []event // that do not come from the load
}

func (w *deployment) fleet(t *testing.T) *fleet {
	t.Helper()
	return &fleet{w: w,
		https:       []*member{w.member(t, "http", w.baseURL), w.member(t, "http", "http://"+freePort(t))},
		dispatchers: []*member{w.member(t, "dispatcher", ""), w.member(t, "dispatcher", "")}}
}

// behindProxy sends the requests of the deployment to haproxy from now on.
func (f *fleet) behindProxy(t *testing.T) {
	t.Helper()
	f.proxy = servetest.StartHAProxy(t, "balance roundrobin", "option httpchk GET /readyz", "http-check expect status 200",
		"default-server inter 1s",
		"server first "+f.https[0].addr+" check port "+port(t, f.https[0].ops),
		"server second "+f.https[1].addr+" check port "+port(t, f.https[1].ops))
	awaitUp(t, f.proxy, "first", "second")
	f.w.baseURL = "http://" + f.proxy.Addr
}

// roll restarts each process in turn, http first, with so many operations before each restart and after the last. Each
// process is changed while it is away; nil: no change.
func (f *fleet) roll(t *testing.T, under *load, operations int, change func(*member)) {
	t.Helper()
	for i, name := range []string{"first", "second"} {
		f.replace(t, under, operations, f.https[i], change)
		awaitUp(t, f.proxy, name)
	}
	for _, d := range f.dispatchers {
		f.replace(t, under, operations, d, change)
	}
	under.await(t, operations)
}

func (f *fleet) replace(t *testing.T, under *load, operations int, m *member, change func(*member)) {
	t.Helper()
	under.await(t, operations)
	if change != nil {
		change(m)
	}
	m.restart(t)
}

// event is a fact that a receiver is told of.
type event struct{ deposit, name string }

func events(deposits []string, name string) (all []event) {
	for _, d := range deposits {
		all = append(all, event{d, name})
	}
	return all
}

// requireOnce waits for the events, ends the dispatchers, and compares: each event arrived once, and no other.
func (f *fleet) requireOnce(t *testing.T, r *hook, want []event) {
	t.Helper()
	require.Eventually(t, func() bool { return len(r.Accepted()) >= len(want) }, soon, often)
	for _, d := range f.dispatchers {
		require.Zero(t, d.stop(t), "everything under way is delivered then")
	}
	times := map[event]int{}
	for _, webhook := range r.All() {
		require.Empty(t, webhook.Wrong)
		times[event{payloadOf(t, webhook).Data.ID, webhook.EventName()}]++
	}
	for _, e := range want {
		require.Equal(t, 1, times[e], "deliveries of %v", e)
	}
	require.Len(t, times, len(want))
}

// member is a process that is restarted at its addresses.
type member struct {
	*process
	name, addr, ops string
	bin             string // folder of the binary; "": that of this tree
	environ         []string
}

// member starts a process; baseURL gives the address of an http.
func (w *deployment) member(t *testing.T, name, baseURL string) *member {
	t.Helper()
	m := &member{name: name, addr: strings.TrimPrefix(baseURL, "http://"), ops: freePort(t), bin: w.bin}
	m.environ = append(append(m.environ, w.environ...), "METRICS_ADDR="+m.ops)
	if m.addr != "" {
		m.environ = append(m.environ, "HTTP_ADDR="+m.addr)
	}
	m.process = m.start(t)
	return m
}

func (m *member) start(t *testing.T) *process {
	t.Helper()
	path := filepath.Join(m.bin, m.name)
	if m.bin == "" {
		path = binary(t, m.name)
	}
	return startAt(t, path, m.name, m.environ...).ready(t)
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
	m.process = m.start(t)
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
