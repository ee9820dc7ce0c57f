package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"partnerdeposits/lab/world"
)

// loadVariant is a way to load the service: an installation, idempotency keys or not, and numbers of partners,
// connections and processes.
type loadVariant struct {
	site            *site
	keyed           bool
	partners, conns int
	// The number of partners whose endpoint takes ten seconds to answer.
	hanging            int
	https, dispatchers int // Numbers of http and dispatcher processes.
}

// String names a benchmark variant, such as "base keyed, 30 partners, 32 connections, 1+1".
func (v loadVariant) String() string {
	keys := "keyless"
	if v.keyed {
		keys = "keyed"
	}
	name := fmt.Sprintf("%s %s, %s, %d connections, %d+%d", v.site.name, keys, partnerCount(v.partners), v.conns,
		v.https, v.dispatchers)
	if v.hanging > 0 {
		name += fmt.Sprintf(", %d hang", v.hanging)
	}
	return strings.TrimSpace(name)
}

func partnerCount(n int) string {
	if n == 1 {
		return "1 partner"
	}
	return fmt.Sprintf("%d partners", n)
}

// variants returns every combination of the options: for each load, every installation in turn. The first load on
// the last installation decides about targets.
func (w *workbench) variants(o options) (all []loadVariant) {
	for _, c := range o.conns {
		for _, p := range o.partners {
			for _, keyed := range o.keys {
				for _, s := range w.sites {
					all = append(all, loadVariant{site: s, keyed: keyed, partners: p, conns: c, https: 1, dispatchers: 1})
				}
			}
		}
	}
	return all
}

// pairs returns the comparisons among variants: with idempotency keys and without, an installation and the one
// before, several processes and one, hanging endpoints and none.
func (w *workbench) pairs(all []loadVariant) (found []pair) {
	for _, a := range all {
		keyless, before, single, healthy := a, a, a, a
		keyless.keyed = false
		if i := slices.Index(w.sites, a.site); i > 0 {
			before.site = w.sites[i-1]
		}
		single.https, single.dispatchers = 1, 1
		healthy.hanging = 0
		for _, b := range []loadVariant{keyless, before, single, healthy} {
			if a != b && slices.Contains(all, b) {
				found = append(found, pair{a.String(), b.String()})
			}
		}
	}
	return found
}

// rotate measures the variants in turn (a b c a b c …), so that other load affects all. Each round has new
// processes and partners, and ends with others.
func (w *workbench) rotate(
	ctx context.Context, rounds int, all []loadVariant, measure func(v loadVariant, partners []world.Partner),
	others ...func(),
) {
	for range rounds {
		for _, v := range all {
			w.enter(ctx, v)
			measure(v, w.newPartners(ctx, v))
			w.unsubscribe(ctx)
		}
		for _, turn := range others {
			turn()
		}
	}
}

// warmTime is the longest load before a measurement.
const warmTime = 2 * time.Second

// warmUp creates and cancels deposits until connections are open and plans are cached.
func (w *workbench) warmUp(ctx context.Context, v loadVariant, partners []world.Partner, round time.Duration) {
	took := w.counted().Taken
	all := w.deposits(ctx, lasting(min(warmTime, round/3)), v, partners)
	w.cancelAll(ctx, all, v)
	w.awaitTaken(ctx, took+len(all)*w.perEvent)
	w.checkpoint(ctx)
}
