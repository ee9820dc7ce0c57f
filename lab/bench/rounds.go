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

func which(bad bool) int {
	if bad {
		return 1
	}
	return 0
}

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
