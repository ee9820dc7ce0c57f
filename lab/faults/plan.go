package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"time"

	"partnerdeposits/lab/pgproxy"
)

// plan draws a run's rounds from the seed: storms of kills at every failpoint, and each other fault in a round of
// its own.
func plan(o options) []fault {
	dice := rand.New(rand.NewPCG(o.seed, 0)) //nolint:gosec // repeatable on purpose
	rounds := stormsOf(wanted(o), dice)
	rounds = append(rounds, others(o, dice)...)
	dice.Shuffle(len(rounds), func(i, j int) { rounds[i], rounds[j] = rounds[j], rounds[i] })
	return rounds
}

// stormSize is the largest number of kills in one storm.
const stormSize = 70

// wanted lists the failpoints of a run, each as often as a process must be killed there.
func wanted(o options) (list []point) {
	for _, p := range points {
		if p.way == expired && o.short {
			// Short runs leave this failpoint out: processes reach it only after the lease of a delivery.
			continue
		}
		list = append(list, slices.Repeat([]point{p}, o.hits)...)
	}
	return list
}

// missing returns the listed kills at failpoints that have not happened yet.
func (w *suite) missing(list []point) (left []point) {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := map[string]int{}
	for _, p := range list {
		if seen[p.label()]++; seen[p.label()] > w.hits[p.label()] {
			left = append(left, p)
		}
	}
	return left
}

// violateMissing records a violation for each failpoint without enough kills.
func (w *suite) violateMissing(left []point) {
	for _, p := range left {
		w.receipts.violate("failpoint", "%s was reached %d times only", p.label(), w.hits[p.label()])
	}
}

// stormsOf groups failpoints into storms of kills by their condition.
func stormsOf(list []point, dice *rand.Rand) (rounds []fault) {
	for way, name := range []string{underLoad: "storm of kills", redisAway: "storm of kills without Redis",
		redisLost: "storm of kills with losses of Redis"} {
		fits := slices.DeleteFunc(slices.Clone(list), func(p point) bool { return p.storm() != way })
		dice.Shuffle(len(fits), func(i, j int) { fits[i], fits[j] = fits[j], fits[i] })
		for part := range slices.Chunk(fits, stormSize) {
			storm := act(func(ctx context.Context, w *suite, dice *rand.Rand) error { return w.storm(ctx, part, dice) })
			if way == redisAway {
				storm = disturbed(allDispatchers, toRedis, (*pgproxy.TCPProxy).CutConnections, storm)
			}
			rounds = append(rounds,
				fault{name: fmt.Sprintf("%s at %d points", name, len(part)), storm: len(part), do: storm})
		}
	}
	return rounds
}

// others draws rounds evenly from all kinds of faults.
func others(o options, dice *rand.Rand) (rounds []fault) {
	only := regexp.MustCompile(o.only)
	fits := slices.DeleteFunc(slices.Clone(kinds), func(k fault) bool {
		return o.short && k.long || !only.MatchString(k.name)
	})
	for len(fits) > 0 && len(rounds) < o.faults {
		dice.Shuffle(len(fits), func(i, j int) { fits[i], fits[j] = fits[j], fits[i] })
		rounds = append(rounds, fits[:min(len(fits), o.faults-len(rounds))]...)
	}
	return rounds
}

// afterKill and afterFlush are the longest recoveries promised with a webhook timeout of ten seconds.
const (
	afterKill  = 35 * time.Second
	afterFlush = 20 * time.Second
)

// play runs a round: fault, restart of every process, recovery.
func (w *suite) play(ctx context.Context, number int, r fault) (roundResult, error) {
	dice := rand.New(rand.NewPCG(w.o.seed, uint64(number))) //nolint:gosec // repeatable on purpose
	began := time.Now()
	out := roundResult{fault: r}
	if err := errors.Join(r.do(ctx, w, dice), w.awaitNodes(ctx)); err != nil {
		return out, fmt.Errorf("%s: %w", r.name, err)
	}
	since := time.Now()
	out.faulty = since.Sub(began)
	if r.kills || r.flushes {
		// The fault itself took no time, so its whole duration is recovery.
		since = began
	}
	late, err := w.recover(ctx, since)
	if err == nil {
		err = w.awaitFed(ctx)
	}
	if !w.o.relaxed && (r.kills && late > afterKill || r.flushes && late > afterFlush) {
		w.receipts.violate("recovery", "%s: %v, promised are %v after a kill and %v after a loss of Redis", r.name, late,
			afterKill, afterFlush)
	}
	out.recovery = late
	return out, err
}
