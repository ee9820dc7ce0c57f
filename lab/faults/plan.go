package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// plan draws the rounds of a run from the seed: kills at every failpoint, grouped into storms, and the other faults
// singly. After each round the service must recover.
func plan(o options) []fault {
	dice := rand.New(rand.NewPCG(o.seed, 0)) //nolint:gosec // repeatable on purpose
	rounds := stormsOf(wanted(o), dice)
	rounds = append(rounds, others(o, dice)...)
	dice.Shuffle(len(rounds), func(i, j int) { rounds[i], rounds[j] = rounds[j], rounds[i] })
	return rounds
}

// stormSize is the most kills in a storm.
const stormSize = 70

// wanted lists the failpoints of a run, each as often as the run must hit the failpoint.
func wanted(o options) (list []point) {
	for _, p := range points {
		if p.way == expired && o.short {
			continue // reaching the failpoint takes a whole lease
		}
		list = append(list, slices.Repeat([]point{p}, o.hits)...)
	}
	return list
}

// missing lists the kills of a list that have not happened yet.
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

// violateMissing reports failpoints that were not reached often enough.
func (w *suite) violateMissing(left []point) {
	for _, p := range left {
		w.receipts.violate("failpoint", "%s was reached %d times only", p.label(), w.hits[p.label()])
	}
}

// storms are the kinds of storms. In each, the other processes keep running.
var storms = []struct {
	name  string
	ways  []way
	while func(storm act) act // adds a disturbance
}{
	{"storm of kills", []way{underLoad, expired}, func(storm act) act { return storm }},
	{"storm of kills without Redis", []way{redisAway}, func(storm act) act {
		return disturbed(allDispatchers, toRedis, nil, storm)
	}},
	{"storm of kills with losses of Redis", []way{redisLost}, func(storm act) act { return storm }},
}

// stormsOf groups failpoints into storms of kills.
func stormsOf(list []point, dice *rand.Rand) (rounds []fault) {
	for _, s := range storms {
		fits := slices.DeleteFunc(slices.Clone(list), func(p point) bool { return !slices.Contains(s.ways, p.way) })
		dice.Shuffle(len(fits), func(i, j int) { fits[i], fits[j] = fits[j], fits[i] })
		for part := range slices.Chunk(fits, stormSize) {
			storm := func(ctx context.Context, w *suite, dice *rand.Rand) error { return w.storm(ctx, part, dice) }
			name := fmt.Sprintf("%s at %d points", s.name, len(part))
			rounds = append(rounds, fault{name: name, storm: len(part), do: s.while(storm)})
		}
	}
	return rounds
}

// others draws from all kinds in turn, so that no kind comes two times more often than another.
func others(o options, dice *rand.Rand) (rounds []fault) {
	fits := slices.DeleteFunc(slices.Clone(kinds), func(k fault) bool {
		return o.short && k.long || !strings.Contains(k.name, o.only)
	})
	for len(fits) > 0 && len(rounds) < o.faults {
		dice.Shuffle(len(fits), func(i, j int) { fits[i], fits[j] = fits[j], fits[i] })
		rounds = append(rounds, fits[:min(len(fits), o.faults-len(rounds))]...)
	}
	return rounds
}

// Bounds of recovery that the service promises with a timeout of ten seconds. Shorter timeouts recover faster.
const (
	afterKill  = 35 * time.Second
	afterFlush = 20 * time.Second
	meanwhile  = 2 * time.Second // p99 from commit to record while Redis is away
)

// play runs a round: the faults, the restart of every process, the recovery.
func (w *suite) play(ctx context.Context, number int, r fault) (result, error) {
	dice := rand.New(rand.NewPCG(w.o.seed, uint64(number))) //nolint:gosec // repeatable on purpose
	_, before := w.receipts.progress()
	began := time.Now()
	out := result{fault: r}
	if err := errors.Join(r.do(ctx, w, dice), w.awaitNodes(ctx)); err != nil {
		return out, fmt.Errorf("%s: %w", r.name, err)
	}
	since := time.Now()
	out.faulty = since.Sub(began)
	if r.kills || r.flushes {
		since = began // the disturbance was momentary: the rest is recovery
	}
	var err error
	out.recovery, err = w.recover(ctx, since)
	if err == nil {
		err = w.awaitFed(ctx)
		out.fed = w.fed()
	}
	if err == nil && r.measured {
		out.p99, err = w.p99(ctx, began, began.Add(out.faulty))
	}
	_, extra := w.receipts.progress()
	out.extra = extra - before
	if r.redisOnly {
		w.noteRedisOnly(period{began, time.Now()})
	}
	w.judge(out)
	return out, err
}

// judge compares a round with the promised times.
func (w *suite) judge(r result) {
	if w.o.relaxed {
		return
	}
	switch {
	case r.kills && r.recovery.all > afterKill:
		w.receipts.violate("recovery", "%s: %v, promised are %v", r.name, r.recovery.all, afterKill)
	case r.flushes && r.recovery.all > afterFlush:
		w.receipts.violate("recovery", "%s: %v, promised are %v", r.name, r.recovery.all, afterFlush)
	case r.p99 > meanwhile:
		w.receipts.violate("latency", "%s: p99 is %v, promised are %v", r.name, r.p99, meanwhile)
	}
}

// p99 is the 99th percentile of the time from commit to record, for changes committed in [from, to) and delivered to
// healthy endpoints.
func (w *suite) p99(ctx context.Context, from, to time.Time) (time.Duration, error) {
	return value[time.Duration](ctx, w, `
		SELECT coalesce(percentile_disc(0.99) WITHIN GROUP (ORDER BY finished_at - event_at), interval '0')
		FROM deliveries WHERE subscription_id = ANY ($1) AND event_at >= $2 AND event_at < $3 AND finished_at IS NOT NULL`,
		w.healthy(), from, to)
}
