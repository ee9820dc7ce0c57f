//go:build long

package e2e_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/receiver"
)

const (
	neighbourRounds = 5
	neighbourRound  = 20 * time.Second
	neighbourRate   = 20 // operations a second, of which each makes an event
	// neighbourMost is how much longer the latest hundredth of the third partner's webhooks may take beside an attack.
	neighbourMost = 1.3
)

// TestLong_Neighbours_AttacksOfTwoPartners_DelayNoThird times the webhooks of a partner in rounds, from the change to
// their arrival (delivery.md, point 9). In every other round two partners do all that one key can: events to silent
// endpoints, tests, replays, and lists that they do not read. They make their subscriptions anew for each round, which
// ends the replays of the round before. All attacks at once are judged beside two partners that make as many deposits
// as their keys may.
func TestLong_Neighbours_AttacksOfTwoPartners_DelayNoThird(t *testing.T) {
	w := newWorld(t)
	n := &neighbourhood{deployment: w, http: w.http(t), dispatcher: w.dispatcher(t), receiver: newReceiver(t)}
	w.subscribe(t, n.receiver, "deposit.cancelled")
	w.admin(t, new(any), "partner", "rate-limit", w.slug, "--per-minute", "100000")
	n.account = w.link(t, "villa-1")
	n.attackers = []*neighbour{w.neighbour(t, "first"), w.neighbour(t, "second")}
	_, _ = n.round(t, use{}) // connections, plans and caches

	quiet, honest := use{}, use{acts: []act{(*neighbour).work}}
	cancel, test, list := (*neighbour).cancel, (*neighbour).test, (*neighbour).list
	for _, c := range []struct {
		name string
		uses []use // in alternation, of which the last is judged beside the one before it
	}{
		{"silent endpoints", []use{quiet, {silent: 15, acts: []act{cancel}}}},
		{"tests", []use{quiet, {silent: 15, acts: []act{test}}}},
		{"replays", []use{quiet, {answering: 15, acts: []act{replays(400)}}}},
		{"unread lists", []use{quiet, {acts: []act{list}}}},
		// All attacks together use every write that both keys allow. Honest use of as many writes doubles the load, too, so
		// the attacks are judged beside honest use.
		{"all at once", []use{quiet, honest, {silent: 8, answering: 7, acts: []act{cancel, test, replays(150), list}}}},
	} {
		t.Run(c.name, func(t *testing.T) { n.measure(t, c.uses) })
	}
}

// neighbourhood is a partner with two others beside it.
type neighbourhood struct {
	*deployment
	http, dispatcher *process
	receiver         *hook
	account          string
	attackers        []*neighbour
}

// use is what each of the two other partners does in a round.
type use struct {
	silent, answering int // numbers of endpoints
	acts              []act
}

type act func(n *neighbour, during *during)

func (n *neighbourhood) measure(t *testing.T, uses []use) {
	t.Helper()
	var ratios, toQuiet []float64
	p99, latest := make([][]float64, len(uses)), make([]float64, len(uses))
	judged := len(uses) - 1
	for i := range neighbourRounds {
		for u, use := range uses {
			p, last := n.round(t, use)
			p99[u], latest[u] = append(p99[u], p), max(latest[u], last)
		}
		ratios = append(ratios, p99[judged][i]/p99[judged-1][i])
		toQuiet = append(toQuiet, p99[judged][i]/p99[0][i])
	}
	rss := peakMemory(t, n.http)
	t.Logf("figure: p99 in ms by use %.0f, latest %.0f; ratio %s, to quiet %s; http %d MB", p99, latest,
		spread(ratios), spread(toQuiet), rss)
	t.Logf("answers to an attacker: %v", n.attackers[0].takeAnswers())
	assert.LessOrEqual(t, median(ratios), neighbourMost)
	assert.Less(t, latest[judged], 1000.0)
	assert.LessOrEqual(t, rss, 300)
}

func median(figures []float64) float64 { return slices.Sorted(slices.Values(figures))[len(figures)/2] }

func spread(figures []float64) string {
	return fmt.Sprintf("%.2f (%.2f to %.2f)", median(figures), slices.Min(figures), slices.Max(figures))
}

// round gives the latest hundredth and the last of the third partner's webhooks, in ms.
func (n *neighbourhood) round(t *testing.T, use use) (p99, last float64) {
	t.Helper()
	for _, a := range n.attackers {
		a.prepare(t, use)
	}
	require.Eventually(t, func() bool { return sum(t, "svc_webhook_inflight", "", n.dispatcher) == 0 }, soon, time.Second)
	before := len(n.receiver.Accepted())
	load := n.loadOf(n.account, neighbourRate, cancelled)
	d := &during{stop: make(chan struct{})}
	for _, a := range n.attackers {
		for _, act := range use.acts {
			act(a, d)
		}
	}
	<-time.After(neighbourRound)
	close(d.stop)
	done, failures, _ := load.end()
	require.Empty(t, failures)
	d.acts.Wait()
	times := latencies(t, n.receiver.await(t, before+len(done))[before:])
	return times[len(times)*99/100], times[len(times)-1]
}

// during is a round.
type during struct {
	stop chan struct{} // closed at its end
	acts sync.WaitGroup
}

// spread begins an act so many times over the round, each at any time of its part of it: the attackers are in step
// neither with each other nor with the third partner.
func (d *during) spread(times int, act func(i int)) {
	part := neighbourRound / time.Duration(times)
	begin := time.Now()
	d.acts.Go(func() {
		for i := range times {
			at := begin.Add(time.Duration(i)*part + rand.N(part))
			select {
			case <-d.stop:
				return
			case <-time.After(time.Until(at)):
				d.acts.Go(func() { act(i) })
			}
		}
	})
}

// cancelled makes a deposit and cancels it.
func cancelled(l *load) (string, error) {
	id, _, err := l.create(uuid.NewString(), l.terms())
	if err == nil {
		_, err = l.send(http.MethodPost, "/deposits/"+id+"/cancel", "", nil)
	}
	return id, err
}

// latencies gives the times from change to arrival in ms, in order.
func latencies(t *testing.T, all []received) (times []float64) {
	t.Helper()
	for _, w := range all {
		var body payload
		require.NoError(t, json.Unmarshal(w.Body, &body))
		at, err := time.Parse(time.RFC3339, body.CreatedAt)
		require.NoError(t, err)
		times = append(times, float64(w.At.Sub(at).Microseconds())/1000)
	}
	slices.Sort(times)
	return times
}

// neighbour is a partner that does all that its key can.
type neighbour struct {
	*deployment
	account, silentURL, answeringURL string
	taken                            atomic.Int64 // by the endpoints that answer
	silent, answering, deposits      []string

	mu      sync.Mutex
	answers map[string]int // by act and status
}

func (w *deployment) neighbour(t *testing.T, slug string) *neighbour {
	t.Helper()
	own := *w
	n := &neighbour{deployment: &own, answers: map[string]int{}}
	listen := func(answer receiver.Responder) string {
		count := func(taken bool) {
			if taken {
				n.taken.Add(1)
			}
		}
		base, end, err := receiver.StartServer(receiver.WebhookHandler(
			func(receiver.Webhook) (receiver.Responder, func(taken bool)) { return answer, count }))
		require.NoError(t, err)
		t.Cleanup(end)
		return base
	}
	n.silentURL, n.answeringURL = listen(receiver.LeaveUnanswered), listen(receiver.RespondStatus(http.StatusOK))
	n.slug = slug
	var made struct{ PartnerID, ConnectSecret, APIKey string }
	n.admin(t, &made, "partner", "create", "--slug", slug, "--name", "Neighbour")
	n.partnerID, n.connectSecret, n.apiKey = made.PartnerID, made.ConnectSecret, made.APIKey
	n.account = n.link(t, slug)
	n.endpoint(t, n.answeringURL)
	metadata := map[string]string{}
	for key := range 20 {
		metadata[fmt.Sprint("k", key)] = strings.Repeat("😀", 500)
	}
	for range 100 {
		n.deposit(t, metadata)
	}
	return n
}

func (n *neighbour) endpoint(t *testing.T, url string) (id string) {
	t.Helper()
	var made struct{ Data struct{ ID string } }
	n.api(t).post("/webhooks", map[string]any{"url": url}, &made)
	return made.Data.ID
}

func (n *neighbour) deposit(t *testing.T, metadata map[string]string) (id string) {
	t.Helper()
	var made struct{ Data struct{ ID string } }
	n.api(t).post("/deposits", map[string]any{"accountId": n.account, "amount": 700, "metadata": metadata,
		"contractStartAt": "2030-06-01T14:00:00Z", "contractEndAt": "2030-06-08T10:00:00Z"}, &made)
	return made.Data.ID
}

// prepare replaces the partner's subscriptions and makes deposits to cancel. Endpoints that answer get 40 deliveries
// each, for replays to repeat.
func (n *neighbour) prepare(t *testing.T, use use) {
	t.Helper()
	var all sync.WaitGroup
	for _, id := range slices.Concat(n.silent, n.answering) {
		all.Go(func() { n.act("delete", http.MethodDelete, "/webhooks/"+id, nil) })
	}
	all.Wait()
	n.silent, n.answering, n.deposits = nil, nil, nil
	for range use.answering {
		n.answering = append(n.answering, n.endpoint(t, n.answeringURL))
	}
	if use.answering > 0 {
		before := n.taken.Load()
		for range 40 {
			n.api(t).post("/deposits/"+n.deposit(t, map[string]string{})+"/cancel", nil, nil)
		}
		require.Eventually(t, func() bool { return n.taken.Load() >= before+40*int64(use.answering+1) }, soon, time.Second/10)
	}
	for range use.silent {
		n.silent = append(n.silent, n.endpoint(t, n.silentURL))
	}
	for range 40 {
		n.deposits = append(n.deposits, n.deposit(t, map[string]string{}))
	}
}

func (n *neighbour) act(name, method, path string, body any) {
	status, _, err := n.api(nil).do(method, path, body)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.answers[fmt.Sprint(name, " ", status, " ", err != nil)]++
}

func (n *neighbour) takeAnswers() map[string]int {
	n.mu.Lock()
	defer n.mu.Unlock()
	answers := n.answers
	n.answers = map[string]int{}
	return answers
}

// work makes deposits and cancels them, with an endpoint that answers.
func (n *neighbour) work(d *during) {
	terms := map[string]any{"accountId": n.account, "amount": 700, "contractStartAt": "2030-06-01T14:00:00Z",
		"contractEndAt": "2030-06-08T10:00:00Z"}
	d.spread(200, func(int) {
		var made struct{ Data struct{ ID string } }
		_, raw, err := n.api(nil).do(http.MethodPost, "/deposits", terms)
		if err == nil && json.Unmarshal(raw, &made) == nil {
			n.act("cancel", http.MethodPost, "/deposits/"+made.Data.ID+"/cancel", nil)
		}
	})
}

// All at once, the attacks take the writes that a key has, 20 a second.

func (n *neighbour) cancel(d *during) {
	d.spread(len(n.deposits), func(i int) { n.act("cancel", http.MethodPost, "/deposits/"+n.deposits[i]+"/cancel", nil) })
}

func (n *neighbour) test(d *during) {
	d.spread(210, func(i int) { n.act("test", http.MethodPost, "/webhooks/"+n.silent[i%len(n.silent)]+"/test", nil) })
}

func replays(times int) act {
	span := map[string]any{"from": "2020-01-01T00:00:00Z", "to": "2040-01-01T00:00:00Z", "status": "succeeded"}
	return func(n *neighbour, d *during) {
		d.spread(times, func(i int) {
			n.act("replay", http.MethodPost, "/webhooks/"+n.answering[i%len(n.answering)]+"/replay", span)
		})
	}
}

func (n *neighbour) list(d *during) {
	head := "GET /api/partner/v1/deposits?limit=100 HTTP/1.1\r\nHost: x\r\nX-Api-Key: " + n.apiKey + "\r\n\r\n"
	d.spread(150, func(int) {
		conn, err := net.Dial("tcp", strings.TrimPrefix(n.baseURL, "http://"))
		if err != nil {
			return
		}
		defer conn.Close()
		if _, err = conn.Write([]byte(head)); err == nil {
			<-d.stop
		}
	})
}

// peakMemory is the largest resident memory of a process, in MB.
func peakMemory(t *testing.T, p *process) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Pid()))
	require.NoError(t, err)
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	require.NotNil(t, found)
	kilobytes, err := strconv.Atoi(string(found[1]))
	require.NoError(t, err)
	return kilobytes >> 10
}
