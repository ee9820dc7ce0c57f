package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// mostWaiters is the number of partners that wait for their feeds at a time.
const mostWaiters = 1000

// waitingCost is the cost of partners that wait while nothing happens, by round.
type waitingCost struct {
	cpu    sample // % of a core of http, Postgres and Redis, beyond the same without requests that wait
	httpMB sample // of memory, beyond the same
}

// measureWaiting opens a request of each partner that waits for an event, and none, in turn. A request is answered after 25 s and
// made anew, as followers do.
func measureWaiting(ctx context.Context, w *world, o options, r *results) error {
	b := newBoard(fmt.Sprintf("%d partners, at rest", mostWaiters))
	none := variant{site: w.sites[len(w.sites)-1], keyed: true, partners: mostWaiters, conns: o.conns[0]}
	all := none
	all.followed = true
	err := rotate(ctx, o.rounds, w.turns([]variant{none, all}, func(ctx context.Context, v variant, partners []testPartner) error {
		waiting := &waiters{arrived: map[string]time.Time{}}
		if v.followed {
			if err := waiting.follow(ctx, w.api, partners, feedWait); err != nil {
				return err
			}
			defer waiting.stop()
		}
		f, err := w.restFigures(ctx, o.idle)
		if err = errors.Join(err, waiting.failed()); err != nil {
			return err
		}
		f["CPU %"] = f["http %"] + f["postgres %"] + f["redis %"]
		b.add(v.String(), w.withMemory(f))
		fmt.Printf("%v: http %.2f %%, Postgres %.2f %%, Redis %.2f %% of a core, %.1f commits/s, %.1f Redis commands/s, http %.0f MB\n",
			v, f["http %"], f["postgres %"], f["redis %"], f["commits/s"], f["redis cmd/s"], f["http MB"])
		return nil
	}))
	r.waiting = &waitingCost{cpu: b.beyond(all, none, "CPU %"), httpMB: b.beyond(all, none, "http MB")}
	return errors.Join(err, b.print(os.Stdout))
}

// beyond gives, of each round, by how much a figure of a variant exceeds that of another.
func (b *board) beyond(v, other variant, figure string) (more sample) {
	before := b.sample(other.String(), figure)
	for i, n := range b.sample(v.String(), figure) {
		more = append(more, n-before[i])
	}
	return more
}
