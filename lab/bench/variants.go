package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// variant is a way to load the service.
type variant struct {
	site                           *site
	keyed                          bool
	partners, subscriptions, conns int
	hanging                        int  // endpoints that take ten seconds, of the first partners
	followed                       bool // each partner has a request that waits for its feed
	https, dispatchers             int  // processes; 0: one
}

// String names the variant, as "base keyed, 30 partners, 4 subscriptions, 32 connections".
func (v variant) String() string {
	keys := "keyless"
	if v.keyed {
		keys = "keyed"
	}
	name := fmt.Sprintf("%s %s, %s, %s, %d connections", v.site.name, keys, count(v.partners, "partner"),
		count(v.subscriptions, "subscription"), v.conns)
	if v.hanging > 0 {
		name += fmt.Sprintf(", %d hang", v.hanging)
	}
	if v.followed {
		name += ", followed"
	}
	if v.https+v.dispatchers > 0 {
		name += fmt.Sprintf(", %d+%d", v.https, v.dispatchers)
	}
	return strings.TrimSpace(name)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// variants gives every combination of the options: for each load the sites in turn, so that a version is measured
// beside the other version.
func (w *workbench) variants(o options, conns []int, subscriptions []int) (all []variant) {
	for _, c := range conns {
		for _, p := range o.partners {
			for _, s := range subscriptions {
				for _, keyed := range o.keys {
					for _, site := range w.sites {
						all = append(all, variant{site: site, keyed: keyed, partners: p, subscriptions: s, conns: c})
					}
				}
			}
		}
	}
	return all
}

// pairs lists the comparisons among variants: with keys against without, and a site with the site before it (new ÷
// base, stocked ÷ empty).
func (w *workbench) pairs(all []variant) (found []pair) {
	for _, a := range all {
		for _, b := range all {
			keyless, before := a, a
			keyless.keyed = false
			if i := slices.Index(w.sites, a.site); i > 0 {
				before.site = w.sites[i-1]
			}
			if a.keyed && b == keyless || before != a && b == before {
				found = append(found, pair{a.String(), b.String()})
			}
		}
	}
	return found
}

// turn is a round of a variant.
type turn func()

// rotate takes turns (a b c a b c …), so that other load on the machine affects all variants.
//
// Returns the error that ended a turn.
func rotate(rounds int, turns []turn) error {
	return attempt(func() {
		for range rounds {
			for _, t := range turns {
				t()
			}
		}
	})
}

// turns makes a turn of each variant. Each round has new processes and new partners.
func (w *workbench) turns(
	ctx context.Context, all []variant, measure func(v variant, partners []testPartner),
) (turns []turn) {
	for _, v := range all {
		turns = append(turns, func() {
			w.enterWith(ctx, v.site, max(v.https, 1), max(v.dispatchers, 1))
			partners := w.newPartners(ctx, v)
			if err := attempt(func() { measure(v, partners) }); err != nil {
				check(fmt.Errorf("%v: %w", v, err))
			}
			w.unsubscribe(ctx, partners)
		})
	}
	return turns
}

// warmUp creates and cancels deposits until connections are open and plans are cached.
func (w *workbench) warmUp(ctx context.Context, v variant, partners []testPartner, o options) {
	took := w.taken()
	all := w.deposits(ctx, lasting(min(warmTime, o.round/3)), v.conns, v.keyed, inTurn(partners))
	w.cancelAll(ctx, all, v.conns, v.keyed)
	w.awaitTaken(ctx, took+len(all)*v.subscriptions)
	w.checkpoint(ctx)
}

// decide gives the variant that targets are compared with: the last site (a new version, or a full database), keyed,
// with the most partners and the fewest subscriptions. beside is the same without keys; nil if it was not measured.
func (w *workbench) decide(all []variant) (deciding variant, beside *variant) {
	deciding = slices.MaxFunc(all, func(a, b variant) int {
		return cmp.Or(cmp.Compare(slices.Index(w.sites, a.site), slices.Index(w.sites, b.site)),
			cmp.Compare(strconv.FormatBool(a.keyed), strconv.FormatBool(b.keyed)), cmp.Compare(a.partners, b.partners),
			cmp.Compare(b.subscriptions, a.subscriptions), cmp.Compare(a.conns, b.conns))
	})
	keyless := deciding
	keyless.keyed = false
	if deciding.keyed && slices.Contains(all, keyless) {
		return deciding, &keyless
	}
	return deciding, nil
}
