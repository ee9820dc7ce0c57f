package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// round is a fault, or several together, followed by a check that the service recovers.
type round struct {
	name   string
	faults int
	do     func(ctx context.Context, w *suite, dice *rand.Rand) error
	kind   fault
	storm  bool // of kills at failpoints
}

// plan draws the rounds of a run from the seed: kills at every failpoint, grouped into storms, and the other faults
// singly.
func plan(o options) []round {
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

// stormsOf groups failpoints into storms of kills.
func stormsOf(list []point, dice *rand.Rand) (rounds []round) {
	byWay := map[way][]point{}
	for _, p := range list {
		under := p.way
		if under == expired {
			under = underLoad // the other processes keep running
		}
		byWay[under] = append(byWay[under], p)
	}
	for _, s := range []struct {
		way  way
		name string
		do   func(w *suite, ctx context.Context, list []point, dice *rand.Rand) error
	}{
		{underLoad, "storm of kills", (*suite).stormUnderLoad},
		{redisAway, "storm of kills without Redis", (*suite).stormWithoutRedis},
		{redisLost, "storm of kills with losses of Redis", (*suite).stormOfLosses},
	} {
		list := byWay[s.way]
		dice.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		for part := range slices.Chunk(list, stormSize) {
			rounds = append(rounds, round{
				name: fmt.Sprintf("%s at %d points", s.name, len(part)), faults: len(part), storm: true,
				do: func(ctx context.Context, w *suite, dice *rand.Rand) error { return s.do(w, ctx, part, dice) },
			})
		}
	}
	return rounds
}

// others draws from all kinds in turn, so that no kind comes two times more often than another.
func others(o options, dice *rand.Rand) (rounds []round) {
	var bag []fault
	for len(rounds) < o.faults {
		if len(bag) == 0 {
			for _, k := range kinds {
				if !(o.short && k.long) && strings.Contains(k.name, o.only) {
					bag = append(bag, k)
				}
			}
			if len(bag) == 0 {
				return nil
			}
			dice.Shuffle(len(bag), func(i, j int) { bag[i], bag[j] = bag[j], bag[i] })
		}
		k := bag[0]
		bag = bag[1:]
		rounds = append(rounds, round{name: k.name, faults: 1, do: k.do, kind: k})
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
func (w *suite) play(ctx context.Context, number int, r round) (result, error) {
	dice := rand.New(rand.NewPCG(w.o.seed, uint64(number))) //nolint:gosec // repeatable on purpose
	before, began := w.receipts.duplicates(), time.Now()
	out := result{round: r}
	if err := r.do(ctx, w, dice); err != nil {
		return out, fmt.Errorf("%s: %w", r.name, err)
	}
	if err := w.awaitNodes(ctx); err != nil {
		return out, fmt.Errorf("%s: %w", r.name, err)
	}
	since := time.Now()
	out.faulty = since.Sub(began)
	if r.kind.kills || r.kind.flushes {
		since = began // the disturbance was momentary: the rest is recovery
	}
	var err error
	if w.o.short {
		out.recovery, err = w.await(ctx, since)
	} else {
		out.recovery, err = w.recover(ctx, since)
	}
	if err == nil {
		err = w.awaitFed(ctx)
		out.fed = w.followers.fed()
	}
	if err == nil && r.kind.measured {
		out.p99, err = w.p99(ctx, began, began.Add(out.faulty))
	}
	out.extra = w.receipts.duplicates() - before
	if r.kind.redisOnly {
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
	case r.round.kind.kills && r.recovery.all > afterKill:
		w.receipts.violate("recovery", "%s: %v, promised are %v", r.round.name, r.recovery.all, afterKill)
	case r.round.kind.flushes && r.recovery.all > afterFlush:
		w.receipts.violate("recovery", "%s: %v, promised are %v", r.round.name, r.recovery.all, afterFlush)
	case r.p99 > meanwhile:
		w.receipts.violate("latency", "%s: p99 is %v, promised are %v", r.round.name, r.p99, meanwhile)
	}
}

// p99 is the 99th percentile of the time from commit to record, for changes committed in [from, to) and delivered to
// healthy endpoints.
func (w *suite) p99(ctx context.Context, from, to time.Time) (time.Duration, error) {
	found, err := query(ctx, w, pgx.RowTo[time.Duration], `
		SELECT coalesce(percentile_disc(0.99) WITHIN GROUP (ORDER BY finished_at - event_at), interval '0')
		FROM deliveries WHERE subscription_id = ANY ($1) AND event_at >= $2 AND event_at < $3 AND finished_at IS NOT NULL`,
		w.healthy(), from, to)
	if err != nil {
		return 0, err
	}
	return found[0], nil
}
