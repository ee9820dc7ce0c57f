package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"partnerdeposits/adapters/system"
)

// throughput holds the figures of cancelling deposits as fast as the API takes the requests, in the variant that decides.
type throughput struct {
	rate sample // deliveries/s end to end
	cpu  sample // CPU-seconds per 1,000 deliveries
	keys *keys  // nil unless keyless calls were measured beside keyed calls
	full *ratio // CPU with rows stored to CPU of an empty database; nil without -stock

	httpMB, dispatcherMB sample // peaks of memory
}

// keys are the ratios of keyed to keyless calls, end to end.
type keys struct{ rate, cpu ratio }

// boards are the tables of the step.
type boards struct{ create, deliver *board }

// measureThroughput creates deposits for the length of a round and then cancels all of them, in each variant.
func measureThroughput(ctx context.Context, w *world, o options, r *results) error {
	all := w.variants(o, o.conns[:1], o.subscriptions)
	found := boards{newBoard("POST deposits"), newBoard("end to end")}
	before := w.counted()
	err := rotate(ctx, o.rounds, w.turns(all, func(ctx context.Context, v variant, partners []testPartner) error {
		defer r.peak(w)
		return w.throughput(ctx, v, partners, o, found)
	}))
	r.counts = w.counted().since(before)
	for _, b := range []*board{found.create, found.deliver} {
		err = errors.Join(err, b.print(os.Stdout), b.printRatios(os.Stdout, w.pairs(all)))
	}
	deciding, beside := w.decide(all)
	name, b := deciding.String(), found.deliver
	r.throughput = &throughput{rate: b.sample(name, "rate"), cpu: b.sample(name, "CPU"), httpMB: b.sample(name, "http MB"), dispatcherMB: b.sample(name, "disp MB")}
	if beside != nil {
		r.throughput.keys = &keys{b.ratio(name, beside.String(), "rate"), b.ratio(name, beside.String(), "CPU")}
	}
	if o.stock > 0 && o.base == "" {
		empty := deciding
		empty.site = w.sites[0]
		full := b.ratio(name, empty.String(), "CPU")
		r.throughput.full = &full
	}
	return err
}

func (w *world) throughput(ctx context.Context, v variant, partners []testPartner, o options, found boards) error {
	ids, made, err := w.createRound(ctx, v, partners, o)
	if err != nil {
		return err
	}
	found.create.add(v.String(), w.withMemory(made.figures()))

	since, took := system.Clock{}.Now(), w.taken()
	from, err := w.read(ctx)
	if err != nil {
		return err
	}
	if err := w.cancelAll(ctx, ids, v.conns, v.keyed); err != nil {
		return err
	}
	cancelled := time.Since(from.at)
	deliveries := len(ids) * v.subscriptions
	if err := w.awaitTaken(ctx, took, deliveries, 5*time.Minute); err != nil {
		return err
	}
	delivered, err := w.since(ctx, from, deliveries)
	if err != nil {
		return err
	}
	found.deliver.add(v.String(), w.withMemory(delivered.figures()))
	l, err := w.latency(ctx, since, deliveries, partners...)
	fmt.Printf("%v: create %.0f/s, CPU s/1,000 %.3f; deliver %.0f/s (API alone %.0f/s), CPU s/1,000 %s; %s\n", v, made.rate(), made.figures()["CPU"],
		delivered.rate(), float64(len(ids))/cancelled.Seconds(), delivered.to.cpu.since(from.cpu).per(deliveries), l)
	return err
}

// withMemory adds the peak memory of the processes.
func (w *world) withMemory(f figures) figures {
	f["http MB"], f["disp MB"] = float64(peakMB(w.http.Pid())), float64(peakMB(w.dispatcher.Pid()))
	return f
}
