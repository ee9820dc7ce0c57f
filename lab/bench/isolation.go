package main

import (
	"context"
	"fmt"
)

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
	labels := [2]string{"a fifth elsewhere", "a fifth hangs    "}
	p99 := w.alternate(ctx, others, first, cycle, func(m mix, bad bool) float64 {
		l := w.pacedLatency(ctx, m, rate, conns, o.isolation)
		fmt.Printf("%s at %d events/s: healthy %s, %s\n", labels[which(bad)], rate, l, r.peak(w))
		return l.p99
	})
	r.add("isolation p99", p99.ratio(), p99.String()+" ms")
	healthy := w.alternate(ctx, others, first, cycle, func(m mix, bad bool) float64 {
		n := w.healthyRate(ctx, m, fewest, conns)
		fmt.Printf("%s %6.0f healthy deliveries/s, %s\n", labels[which(bad)], n, r.peak(w))
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
	labels := [2]string{"beside 20 civil  ", "beside 20 hostile"}
	p99 := w.alternate(ctx, [2][]string{addresses.Civil, addresses.Hostile}, 1, 3, func(m mix, bad bool) float64 {
		dispatcher := w.dispatcher.Process().Pid()
		ours, theirs := treeCPU(dispatcher), treeCPU(neighbours.Pid())
		l := w.pacedLatency(ctx, m, rate, o.conns[0], o.hostile)
		if bad {
			peak = max(peak, peakMB(dispatcher))
		}
		fmt.Printf("%s at %d events/s: good one %s, %s, CPU s dispatcher %.1f, the 20 %.1f\n", labels[which(bad)], rate, l, r.peak(w),
			treeCPU(dispatcher)-ours, treeCPU(neighbours.Pid())-theirs)
		return l.p99
	})
	r.add("hostile p99", p99.ratio(), p99.String()+" ms")
	r.add("hostile MB", float64(peak), fmt.Sprintf("%d MB", peak))
}
