package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/valyala/fasthttp"

	"partnerdeposits/adapters/system"
)

// mix distributes events over endpoints: the first events of every cycle go to the measured endpoint, the rest in turn
// to the other endpoints.
type mix struct {
	good         testPartner
	others       []testPartner
	first, cycle int
}

func (m mix) whose(i int) *testPartner {
	if i%m.cycle < m.first {
		return &m.good
	}
	return &m.others[i%len(m.others)]
}

// goods counts the events of the measured endpoint among the first n.
func (m mix) goods(n int) int { return n/m.cycle*m.first + min(n%m.cycle, m.first) }

// neighbourhood is a set of endpoints that receive deliveries while another endpoint is measured: all good, or some
// bad.
type neighbourhood struct {
	name string
	urls []string
}

// beside measures the endpoint beside good neighbours and beside bad ones in turn (a b a b a b), so that other load on
// the machine affects both. Each round has a new dispatcher and new endpoints.
//
// Returns the ratio of a figure beside bad neighbours to the figure beside good ones.
func (w *workbench) beside(
	ctx context.Context, b *board, good, bad neighbourhood, first, cycle int, measure func(m mix) figures, figure string,
) ratio {
	const rounds = 3
	var turns []turn
	for _, n := range []neighbourhood{good, bad} {
		turns = append(turns, func() {
			w.enter(ctx, w.site)
			m := mix{good: w.newPartner(ctx, w.sink+"/"), first: first, cycle: cycle}
			for _, url := range n.urls {
				m.others = append(m.others, w.newPartner(ctx, url))
			}
			b.add(n.name, w.withMemory(measure(m)))
			w.unsubscribe(ctx, m.others)
		})
	}
	check(rotate(rounds, turns))
	return b.ratio(bad.name, good.name, figure)
}

// pacedLatency is the latency at the measured endpoint with rate events a second in total. Measuring starts after the
// neighbours have received events for a while.
func (w *workbench) pacedLatency(ctx context.Context, m mix, rate, conns int, length time.Duration) figures {
	warm, n := int(warmTime.Seconds())*rate, int((warmTime+length).Seconds()*float64(rate))
	all := w.deposits(ctx, calls(n), conns, true, m.whose)
	took := w.taken()
	w.cancelPaced(ctx, all[:warm], rate, true, took)
	since := system.Clock{}.Now()
	f := w.cancelPaced(ctx, all[warm:], rate, true, took+m.goods(n)).spent.figures()
	w.addLogged(ctx, f, since, m.goods(n)-m.goods(warm), m.good)
	return f
}

// warmTime is the length of the load before an open loop that is measured.
const warmTime = 2 * time.Second

// maxHanging of all partners have an endpoint that may hang. The other partners are healthy in every variant, and only
// they are measured.
const maxHanging = 5

// measureHanging cancels deposits of many partners at a steady rate while none, one and five of their endpoints hang.
func measureHanging(ctx context.Context, w *workbench, o options, r *results) {
	rate := cmp.Or(o.rate, isolationRate(r.rate))
	b := r.board(fmt.Sprintf("healthy partners at %d events/s", rate))
	none := variant{site: w.last(), keyed: true, partners: addresses, subscriptions: 1, conns: o.conns[0]}
	one, five := none, none
	one.hanging, five.hanging = 1, maxHanging
	err := rotate(o.rounds, w.turns(ctx, []variant{none, one, five}, func(v variant, partners []testPartner) {
		defer r.peak(w)
		healthy := func(i int) bool { return i%len(partners) >= maxHanging }
		f, _ := w.arrivalRound(ctx, v, partners, rate, warmTime, o.isolation, healthy)
		b.add(v.String(), f)
	}))
	r.addRatio("hanging", b.ratio(five.String(), none.String(), "p99 ms"))
	check(err)
}

// isolationRate is 30 % of the rate measured at full speed. Fixed bounds apply, also without such a measurement.
func isolationRate(fullSpeed float64) int {
	const share, least, most = 0.3, 200, 1000
	return int(min(max(share*fullSpeed, least), most))
}

// measureIsolation compares a receiver beside a hanging receiver with the same beside a receiver that answers.
func measureIsolation(ctx context.Context, w *workbench, o options, r *results) {
	const first, cycle, fewest = 4, 5, 20_000 // fewest events that give a rate
	rate, conns := isolationRate(r.rate), o.conns[0]
	good := neighbourhood{"a fifth elsewhere", []string{w.sink + "/elsewhere"}}
	bad := neighbourhood{"a fifth hangs", []string{w.sink + "/hang"}}
	paced := r.board(fmt.Sprintf("healthy at %d events/s", rate))
	r.addRatio("isolation p99", w.beside(ctx, paced, good, bad, first, cycle, func(m mix) figures {
		defer r.peak(w)
		return w.pacedLatency(ctx, m, rate, conns, o.isolation)
	}, "log p99 ms"))
	// as fast as the API takes the events
	r.addRatio("isolation rate", w.beside(ctx, r.board("healthy"), good, bad, first, cycle, func(m mix) figures {
		defer r.peak(w)
		all := w.deposits(ctx, calls(fewest), conns, true, m.whose)
		took := w.taken()
		return w.cost(ctx, func() int {
			w.cancelAll(ctx, all, conns, true)
			w.awaitTaken(ctx, took+m.goods(fewest))
			return m.goods(fewest)
		}).figures()
	}, "rate"))
}

// measureHostility compares a well-behaved receiver beside twenty hostile receivers with the same beside twenty civil
// ones.
func measureHostility(ctx context.Context, w *workbench, o options, r *results) {
	process, base := startSelf(ctx, "neighbours", "/")
	defer func() {
		process.Kill()
		w.settings = nil
	}()
	_, body, err := fasthttp.Get(nil, base+"/")
	check(err)
	var all neighbours
	check(json.Unmarshal(body, &all))
	authority := w.dir + "/authority.pem"
	check(os.WriteFile(authority, []byte(all.Authority), 0o600))
	w.settings = map[string][]string{"dispatcher": {"SSL_CERT_FILE=" + authority}}
	const rate = 150 // a third of the events go to the well-behaved receiver
	civil, hostile := neighbourhood{"beside 20 civil", all.Civil}, neighbourhood{"beside 20 hostile", all.Hostile}
	b := r.board(fmt.Sprintf("good one at %d events/s", rate))
	r.addRatio("hostile p99", w.beside(ctx, b, civil, hostile, 1, 3, func(m mix) figures {
		defer r.peak(w)
		before := treeCPU(process.Pid())
		f := w.pacedLatency(ctx, m, rate, o.conns[0], o.hostile)
		f["20 CPU s"] = treeCPU(process.Pid()) - before
		return f
	}, "log p99 ms"))
	peak := slices.Max(b.sample(hostile.name, "disp MB"))
	r.add("hostile MB", peak, fmt.Sprintf("%.0f MB", peak))
}
