//go:build long

package e2e_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/receiver"
)

// gate is a receiver whose address refuses connections while it is shut, as all receivers do behind a firewall of ours.
type gate struct {
	*hook
	address string
	server  *http.Server
}

func newGate(t *testing.T) *gate {
	g := &gate{hook: &hook{}, address: freePort(t)}
	g.URL = "http://" + g.address + "/hook"
	g.open(t)
	t.Cleanup(g.shut)
	return g
}

func (g *gate) open(t *testing.T) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", g.address)
	require.NoError(t, err)
	g.server = &http.Server{Handler: receiver.WebhookHandler(g.take), ReadHeaderTimeout: time.Minute}
	go func() { _ = g.server.Serve(listener) }() // ends with the server
}

// shut lets POSTs end that are in flight, so that none is made again.
func (g *gate) shut() { _ = g.server.Shutdown(context.Background()) }

// wayOut is the way from the dispatchers to the receivers of three partners.
type wayOut []*gate

// partners makes further partners, each with two receivers and two deposits a second.
func (x *watched) partners(slugs ...string) (w wayOut) {
	for _, slug := range slugs {
		other := *x.deployment
		var made struct{ PartnerID, Slug, ConnectSecret, APIKey string }
		other.admin(x.t, &made, "partner", "create", "--slug", slug, "--name", slug, "--contact-email",
			slug+"@partner.example")
		other.slug, other.partnerID, other.connectSecret, other.apiKey = slug, made.PartnerID, made.ConnectSecret, made.APIKey
		account := other.link(x.t, "house-of-"+slug)
		for range 2 {
			g := newGate(x.t)
			other.subscribe(x.t, g.hook)
			w = append(w, g)
		}
		x.steady(2, 2, func() { _ = other.lifeOfADeposit(x.t, account, false) })
	}
	return w
}

func (w wayOut) breaks() {
	for _, g := range w {
		g.shut()
	}
}

// cutOff shuts the receivers of two further partners.
func (x *watched) cutOff() {
	x.cut = x.partners("first", "second")
	require.Eventually(x.t, func() bool { n, _ := x.cut.since(time.Time{}); return n == len(x.cut) }, soon, often,
		"each has taken a POST")
	x.cut.breaks()
}

func (w wayOut) mends(t *testing.T) {
	for _, g := range w {
		g.open(t)
	}
}

// taken counts the POSTs that each receiver took, by the bytes of their payloads.
func (w wayOut) taken() (posts int, distinct map[string]int) {
	distinct = map[string]int{}
	for _, g := range w {
		for _, got := range g.Accepted() {
			posts++
			distinct[g.URL+got.EventName()+string(got.Body)]++
		}
	}
	return posts, distinct
}

// since counts receivers that took a POST after the time.
func (w wayOut) since(at time.Time) (n int, first time.Duration) {
	var firsts []time.Time
	for _, g := range w {
		for _, got := range g.Accepted() {
			if got.At.After(at) {
				firsts = append(firsts, got.At)
				break
			}
		}
	}
	if len(firsts) == 0 {
		return 0, 0
	}
	return len(firsts), slices.MinFunc(firsts, time.Time.Compare).Sub(at)
}

// overview is the first dashboard to look at.
func overview(t testing.TB) dashboard {
	t.Helper()
	all := dashboards(t)
	return all[slices.IndexFunc(all, func(d dashboard) bool { return d.UID == "svc-overview" })]
}

// shown is what a panel of the first dashboard's first row shows now, by the names of its series.
func (x *watched) shown(title string) map[string]float64 {
	d, now := overview(x.t), time.Now()
	panel := d.Panels[slices.IndexFunc(d.Panels, func(p panel) bool { return p.Title == title })]
	values := map[string]float64{}
	span := shownSpan{from: now.Add(-time.Second), to: now, step: time.Second, rateInterval: time.Minute}
	for _, line := range d.lines(x.t, x.prometheus, panel, span) {
		values[line.name] = line.values[len(line.values)-1]
	}
	return values
}

// ever lists pages, also those that ended. A busy machine may answer slowly, which no fault of the way out causes.
func (p *pager) ever() (names []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name := range p.first {
		if p.sev[name] == "page" && name != "ApiSlowFast" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// A break of our own way out is paged once, with its cause. It ends by itself, and nobody hears of it afterwards:
// neither a pager nor a partner. Rules, scrapes and the Alertmanager's configuration are as they are deployed.
func TestLong_OutboundBroken_IsPagedOnce_AndDeliveriesFlowAgainByThemselves(t *testing.T) {
	const lasts, quiet = 7 * time.Minute, 8 * time.Minute
	x := newWatched(t, watchedOf{
		second: true, scrapes: scrapeInterval, pager: func(config string) string { return config },
	})
	w := x.partners("first", "second", "third")
	passes(t, 90*time.Second)
	healthy, _ := w.taken()
	require.NotZero(t, healthy)

	broke := time.Now()
	w.breaks()
	x.pager.await(t, "firing", 5*time.Minute, "OutboundBroken")
	t.Logf("figure: paged %.0f s after the break", time.Since(broke).Seconds())
	require.Zero(t, x.count(`SELECT count(*) FROM webhook_notice_mails`), "no partner is mailed")
	code, stdout, _ := run(t, x.environ, "admin", "doctor", "--process", x.dispatch.opsURL)
	require.Equal(t, 1, code)
	require.Contains(t, stdout, "most endpoints, of several partners, have got no connection since")
	require.Contains(t, stdout, "outbound is broken, it seems")
	require.Eventually(t, func() bool {
		affected := x.shown("Affected endpoints")
		return x.shown("Delivery success rate")["2xx"] < 0.1 && x.shown("Backlog age")["circuit open"] > 60 &&
			affected["held"] >= 6 && affected["our way out"] == 1
	}, 3*time.Minute, time.Second, "the first row of the first dashboard tells of it")
	t.Logf("figure: the first row told of it %.0f s after the break", time.Since(broke).Seconds())
	ready, _ := fetch(x.dispatch.opsURL + "/readyz")
	require.Equal(t, http.StatusOK, ready, "a restart does not help")
	passes(t, lasts-time.Since(broke))
	waited := x.count(`SELECT count(*) FROM deliveries WHERE state = 0`)

	mended := time.Now()
	w.mends(t)
	require.Eventually(t, func() bool { n, _ := w.since(mended); return n == len(w) }, time.Minute, often,
		"each receiver gets deliveries")
	all := time.Since(mended)
	_, first := w.since(mended)
	require.Eventually(t, func() bool {
		return x.count(`SELECT count(*) FROM deliveries WHERE state = 0 AND created_at < now() - interval '30 seconds'`) == 0
	},
		3*time.Minute, time.Second, "nothing that was held waits")
	drained := time.Since(mended)
	t.Logf(
		"figure: %d deliveries waited; after the repair the first POST came after %.1f s, each receiver had one after %.1f s, "+
			"all that waited after %.0f s", waited, first.Seconds(), all.Seconds(), drained.Seconds())
	passes(t, quiet)
	require.Equal(t, []string{"OutboundBroken"}, x.pager.ever(), "one page, and none after the repair")
	require.NotContains(t, x.pager.pages(), "OutboundBroken", "it ended")
	require.Zero(t, x.count(`SELECT count(*) FROM webhook_notice_mails`))
	posts, distinct := w.taken()
	require.Len(t, distinct, posts, "nothing is delivered twice")
	t.Logf("figure: one page in all; %d POSTs, all distinct; firing in the end: %v", posts, x.pager.in("firing"))

	w.breaks() // once more, with a hand
	require.Eventually(t, func() bool {
		return x.count(`SELECT count(*) FROM webhook_subscriptions WHERE held_until > now() + interval '5 seconds'`) == len(w)
	},
		3*time.Minute, time.Second)
	w.mends(t)
	probed := time.Now()
	var both sync.WaitGroup
	both.Go(func() {
		code, stdout, stderr := run(t, x.environ, "admin", "webhook", "probe", "--all", "--json")
		var answer struct{ Circuits, Deliveries int }
		if code != 0 || json.Unmarshal([]byte(stdout), &answer) != nil || answer.Circuits == 0 {
			t.Error(code, stdout, stderr)
		}
	})
	both.Wait()
	require.Eventually(t, func() bool { n, _ := w.since(probed); return n > 0 }, 10*time.Second, often)
	_, first = w.since(probed)
	t.Logf("figure: admin webhook probe: the first POST came %.1f s after the command began", first.Seconds())
}
