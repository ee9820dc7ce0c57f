package main

import (
	"context"
	"fmt"
	"time"

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

// versus is a figure in two variants: with well-behaved neighbours and with hostile neighbours.
type versus [2]sample

// ratio of the median with hostile neighbours to the median with well-behaved neighbours.
func (v versus) ratio() float64 { return v[1].median() / v[0].median() }

// String gives the ratio and the two medians.
func (v versus) String() string {
	return fmt.Sprintf("%.2f×: %.4g against %.4g", v.ratio(), v[1].median(), v[0].median())
}

// alternate measures the variants in turn (a b a b a b), so that other load on the machine affects both. Each round has
// a new dispatcher and new endpoints.
func (w *workbench) alternate(
	ctx context.Context, others [2][]string, first, cycle int, measure func(m mix, bad bool) (figure float64),
) (v versus) {
	for round := range 6 {
		bad := round % 2
		w.enter(ctx, w.site)
		m := mix{good: w.newPartner(ctx, w.sink+"/"), first: first, cycle: cycle}
		for _, url := range others[bad] {
			m.others = append(m.others, w.newPartner(ctx, url))
		}
		v[bad] = append(v[bad], measure(m, bad == 1))
		w.unsubscribe(ctx, m.others)
	}
	return v
}

// pacedLatency is the latency at the measured endpoint with rate events a second in total. Measuring starts after the
// neighbours have received events for a while.
func (w *workbench) pacedLatency(ctx context.Context, m mix, rate, conns int, length time.Duration) latency {
	warm, n := int(warmTime.Seconds())*rate, int((warmTime+length).Seconds()*float64(rate))
	all := w.deposits(ctx, calls(n), conns, true, m.whose)
	took := w.taken()
	w.cancelPaced(ctx, all[:warm], rate, true, took)
	since := system.Clock{}.Now()
	w.cancelPaced(ctx, all[warm:], rate, true, took+m.goods(n))
	return w.latency(ctx, since, m.goods(n)-m.goods(warm), m.good)
}

// warmTime is the length of the load before an open loop that is measured.
const warmTime = 2 * time.Second

// healthyRate is the rate of deliveries to the measured endpoint when events come as fast as the API takes them.
func (w *workbench) healthyRate(ctx context.Context, m mix, n, conns int) float64 {
	all := w.deposits(ctx, calls(n), conns, true, m.whose)
	took, began := w.taken(), time.Now()
	w.cancelAll(ctx, all, conns, true)
	w.awaitTaken(ctx, took+m.goods(n))
	return float64(m.goods(n)) / time.Since(began).Seconds()
}

// mostHanging of all partners have an endpoint that may hang. The other partners are healthy in every variant, and only
// they are measured.
const mostHanging = 5

// measureHanging cancels deposits of many partners at a steady rate while none, one and five of their endpoints hang.
func measureHanging(ctx context.Context, w *workbench, o options, r *results) {
	rate, b := isolationRate(r.rate), r.board("healthy partners")
	none := variant{site: w.last(), keyed: true, partners: addresses, subscriptions: 1, conns: o.conns[0]}
	one, five := none, none
	one.hanging, five.hanging = 1, mostHanging
	err := rotate(o.rounds, w.turns(ctx, []variant{none, one, five}, func(v variant, partners []testPartner) {
		defer r.peak(w)
		healthy := func(i int) bool { return i%len(partners) >= mostHanging }
		f, _ := w.arrivalRound(ctx, v, partners, rate, warmTime, o.isolation, healthy)
		b.add(v.String(), f)
		fmt.Printf("%v at %d events/s: healthy call → receiver p50 %.1f ms, p99 %.1f ms\n", v, rate, f["p50 ms"], f["p99 ms"])
	}))
	r.addRatio("hanging", b.ratio(five.String(), none.String(), "p99 ms"))
	for _, v := range []variant{one, five} {
		fmt.Printf("%v ÷ none hang: p99 %v\n", v, b.ratio(v.String(), none.String(), "p99 ms"))
	}
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
	others := [2][]string{{w.sink + "/elsewhere"}, {w.sink + "/hang"}}
	labels := map[bool]string{false: "a fifth elsewhere", true: "a fifth hangs    "}
	p99 := w.alternate(ctx, others, first, cycle, func(m mix, bad bool) float64 {
		l := w.pacedLatency(ctx, m, rate, conns, o.isolation)
		fmt.Printf("%s at %d events/s: healthy %s, %s\n", labels[bad], rate, l, r.peak(w))
		return l.p99
	})
	r.add("isolation p99", p99.ratio(), p99.String()+" ms")
	healthy := w.alternate(ctx, others, first, cycle, func(m mix, bad bool) float64 {
		n := w.healthyRate(ctx, m, fewest, conns)
		fmt.Printf("%s %6.0f healthy deliveries/s, %s\n", labels[bad], n, r.peak(w))
		return n
	})
	r.add("isolation rate", healthy.ratio(), healthy.String()+" /s")
}

// measureHostility compares a well-behaved receiver beside twenty hostile receivers with the same beside twenty civil ones.
func measureHostility(ctx context.Context, w *workbench, o options, r *results) {
	neighbours, addresses := w.startNeighbours(ctx)
	defer func() {
		neighbours.Kill()
		w.settings = nil
	}()
	const rate = 150 // a third of the events go to the well-behaved receiver
	peak := 0        // of the dispatcher beside the hostile receivers
	labels := map[bool]string{false: "beside 20 civil  ", true: "beside 20 hostile"}
	p99 := w.alternate(ctx, [2][]string{addresses.Civil, addresses.Hostile}, 1, 3, func(m mix, bad bool) float64 {
		dispatcher := w.dispatcher.Process().Pid()
		ours, theirs := treeCPU(dispatcher), treeCPU(neighbours.Pid())
		l := w.pacedLatency(ctx, m, rate, o.conns[0], o.hostile)
		if bad {
			peak = max(peak, peakMB(dispatcher))
		}
		fmt.Printf("%s at %d events/s: good one %s, %s, CPU s dispatcher %.1f, the 20 %.1f\n", labels[bad], rate, l, r.peak(w),
			treeCPU(dispatcher)-ours, treeCPU(neighbours.Pid())-theirs)
		return l.p99
	})
	r.add("hostile p99", p99.ratio(), p99.String()+" ms")
	r.add("hostile MB", float64(peak), fmt.Sprintf("%d MB", peak))
}
