package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// variant is a way to load the service.
type variant struct {
	site                           *site
	keyed                          bool
	partners, subscriptions, conns int
	hanging                        int  // endpoints that take ten seconds, of the first partners
	followed                       bool // each partner has a request that waits for its feed
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
	return strings.TrimSpace(name)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// variants gives every combination of the options: for each load the sites in turn, so that a version is measured beside
// the other version.
func (w *world) variants(o options, conns []int, subscriptions []int) (all []variant) {
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

// pairs lists the comparisons among variants: with keys against without, and a site with the site before it (new ÷ base,
// stocked ÷ empty).
func (w *world) pairs(all []variant) (found []pair) {
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
type turn func(context.Context) error

// rotate takes turns (a b c a b c …), so that other load on the machine affects all variants.
func rotate(ctx context.Context, rounds int, turns []turn) error {
	for range rounds {
		for _, t := range turns {
			if err := t(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// turns makes a turn of each variant. Each round has new processes and new partners.
func (w *world) turns(all []variant, measure func(ctx context.Context, v variant, partners []testPartner) error) (turns []turn) {
	for _, v := range all {
		turns = append(turns, func(ctx context.Context) error {
			if err := w.enter(ctx, v.site); err != nil {
				return err
			}
			partners, err := w.newPartners(ctx, v)
			if err != nil {
				return err
			}
			if err := measure(ctx, v, partners); err != nil {
				return fmt.Errorf("%v: %w", v, err)
			}
			return w.unsubscribe(ctx, partners)
		})
	}
	return turns
}

// warmUp creates and cancels deposits until connections are open and plans are cached.
func (w *world) warmUp(ctx context.Context, v variant, partners []testPartner, o options) error {
	took := w.taken()
	ids, err := w.deposits(ctx, lasting(min(2*time.Second, o.round/3)), v.conns, v.keyed, inTurn(partners))
	if err != nil {
		return err
	}
	if err := w.cancelAll(ctx, ids, v.conns, v.keyed); err != nil {
		return err
	}
	if err := w.awaitTaken(ctx, took, len(ids)*v.subscriptions, time.Minute); err != nil {
		return err
	}
	return w.checkpoint(ctx)
}

// decide gives the variant that targets are compared with: the last site (a new version, or a full database), keyed, with the most partners and the
// fewest subscriptions. beside is the same without keys; nil if it was not measured.
func (w *world) decide(all []variant) (deciding variant, beside *variant) {
	deciding = slices.MaxFunc(all, func(a, b variant) int {
		return cmp.Or(cmp.Compare(slices.Index(w.sites, a.site), slices.Index(w.sites, b.site)), order(a.keyed, b.keyed), cmp.Compare(a.partners, b.partners),
			cmp.Compare(b.subscriptions, a.subscriptions), cmp.Compare(a.conns, b.conns))
	})
	keyless := deciding
	keyless.keyed = false
	if deciding.keyed && slices.Contains(all, keyless) {
		return deciding, &keyless
	}
	return deciding, nil
}

func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}
