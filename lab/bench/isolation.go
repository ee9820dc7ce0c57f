package main

import (
	"context"
	"fmt"
)

// isolation is the effect of a hanging receiver on the other receivers.
type isolation struct{ p99, rate versus }

// isolationRate is 30 % of the rate measured at full speed. Fixed bounds apply, also without such a measurement.
func isolationRate(t *throughput) int {
	const share, least, most = 0.3, 200, 1000
	if t == nil {
		return least
	}
	return int(min(max(share*t.rate.median(), least), most))
}

func measureIsolation(ctx context.Context, w *world, o options, r *results) error {
	rate, found := isolationRate(r.throughput), &isolation{}
	others := [2][]string{{w.sink + "/elsewhere"}, {w.sink + "/hang"}}
	labels := [2]string{"a fifth elsewhere", "a fifth hangs    "}
	err := w.alternate(ctx, others, 4, 5, func(m mix, bad bool) error {
		l, err := w.pacedLatency(ctx, m, rate, o.conns[0], o.isolation)
		if err != nil {
			return err
		}
		found.p99.add(bad, l.p99)
		fmt.Printf("%s at %d events/s: healthy %s, %s\n", labels[which(bad)], rate, l, r.peak(w))
		return nil
	})
	if err != nil {
		return err
	}
	err = w.alternate(ctx, others, 4, 5, func(m mix, bad bool) error {
		healthy, err := w.healthyRate(ctx, m, fewest, o.conns[0])
		if err != nil {
			return err
		}
		found.rate.add(bad, healthy)
		fmt.Printf("%s %6.0f healthy deliveries/s, %s\n", labels[which(bad)], healthy, r.peak(w))
		return nil
	})
	r.isolation = found
	return err
}

// fewest events that give a rate.
const fewest = 20_000

// hostility is the effect of twenty hostile receivers on a well-behaved receiver.
type hostility struct {
	p99 versus
	mem int // peak MB of the dispatcher beside the hostile receivers
}

func measureHostility(ctx context.Context, w *world, o options, r *results) error {
	hostile, civil, err := w.startNeighbours(ctx)
	if err != nil {
		return err
	}
	defer w.neighbours.Kill()
	const rate = 150 // a third of the events go to the well-behaved receiver
	found := &hostility{}
	labels := [2]string{"beside 20 civil  ", "beside 20 hostile"}
	err = w.alternate(ctx, [2][]string{civil, hostile}, 1, 3, func(m mix, bad bool) error {
		ours, theirs := treeCPU(w.dispatcher.Pid()), treeCPU(w.neighbours.Pid())
		l, err := w.pacedLatency(ctx, m, rate, o.conns[0], o.hostile)
		if err != nil {
			return err
		}
		found.p99.add(bad, l.p99)
		if bad {
			found.mem = max(found.mem, peakMB(w.dispatcher.Pid()))
		}
		fmt.Printf("%s at %d events/s: good one %s, %s, CPU s dispatcher %.1f, the 20 %.1f\n", labels[which(bad)], rate, l, r.peak(w),
			treeCPU(w.dispatcher.Pid())-ours, treeCPU(w.neighbours.Pid())-theirs)
		return nil
	})
	r.hostility = found
	return err
}
