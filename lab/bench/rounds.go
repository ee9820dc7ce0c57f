package main

import (
	"context"
	"slices"
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

// sample holds repeated measurements of a figure.
type sample []float64

func (s sample) median() float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	return (sorted[(len(s)-1)/2] + sorted[len(s)/2]) / 2
}

// percentile gives the smallest value that is at least as large as p % of the values.
func (s sample) percentile(p int) float64 {
	if len(s) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(s))[(len(s)*p+99)/100-1]
}

// versus is a figure in two variants: with well-behaved neighbours and with hostile neighbours.
type versus [2]sample

func (v *versus) add(bad bool, figure float64) {
	i := which(bad)
	v[i] = append(v[i], figure)
}

// ratio of the median with hostile neighbours to the median with well-behaved neighbours.
func (v versus) ratio() float64 { return v[1].median() / v[0].median() }

func which(bad bool) int {
	if bad {
		return 1
	}
	return 0
}

// alternate measures the variants in turn (a b a b a b), so that other load on the machine affects both. Each round has
// a new dispatcher and new endpoints.
func (w *world) alternate(ctx context.Context, others [2][]string, first, cycle int, measure func(m mix, bad bool) error) error {
	for round := range 6 {
		bad := round%2 == 1
		if err := w.enter(ctx, w.site); err != nil {
			return err
		}
		good, err := w.newPartner(ctx, w.sink+"/")
		if err != nil {
			return err
		}
		m := mix{good: good, first: first, cycle: cycle}
		for _, url := range others[which(bad)] {
			t, err := w.newPartner(ctx, url)
			if err != nil {
				return err
			}
			m.others = append(m.others, t)
		}
		if err := measure(m, bad); err != nil {
			return err
		}
		if err := w.unsubscribe(ctx, m.others); err != nil {
			return err
		}
	}
	return nil
}

// pacedLatency is the latency at the measured endpoint with rate events a second in total. Measuring starts after the
// neighbours have received events for a while.
func (w *world) pacedLatency(ctx context.Context, m mix, rate, conns int, length time.Duration) (latency, error) {
	const warmUp = 2 * time.Second
	warm, n := int(warmUp.Seconds())*rate, int((warmUp+length).Seconds()*float64(rate))
	ids, err := w.deposits(ctx, calls(n), conns, true, m.whose)
	if err != nil {
		return latency{}, err
	}
	took := w.taken()
	if _, _, err := w.cancelPaced(ctx, ids[:warm], rate, true); err != nil {
		return latency{}, err
	}
	since := system.Clock{}.Now()
	if _, _, err := w.cancelPaced(ctx, ids[warm:], rate, true); err != nil {
		return latency{}, err
	}
	if err := w.awaitTaken(ctx, took, m.goods(n), 2*time.Minute); err != nil {
		return latency{}, err
	}
	return w.latency(ctx, since, m.goods(n)-m.goods(warm), m.good)
}

// healthyRate is the rate of deliveries to the measured endpoint when events come as fast as the API takes them.
func (w *world) healthyRate(ctx context.Context, m mix, n, conns int) (float64, error) {
	ids, err := w.deposits(ctx, calls(n), conns, true, m.whose)
	if err != nil {
		return 0, err
	}
	took, began := w.taken(), time.Now()
	if err := w.cancelAll(ctx, ids, conns, true); err != nil {
		return 0, err
	}
	if err := w.awaitTaken(ctx, took, m.goods(n), 5*time.Minute); err != nil {
		return 0, err
	}
	return float64(m.goods(n)) / time.Since(began).Seconds(), nil
}
