package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"partnerdeposits/adapters/system"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/world"
)

// shares of the partners in the load, in percent. Their endpoints behave differently, so that every fault meets each
// behaviour.
var shares = []struct {
	name      string
	share     int
	endpoints []behaviours // with a second, it gets the general event alone
}{
	{"steady", 55, []behaviours{polite}}, {"double", 20, []behaviours{moody, moody}}, {"hostile", 15,
		[]behaviours{hostile}},
	{"changing", 10, []behaviours{moody}},
}

// seed creates the partners, before any process runs.
func (w *suite) seed(ctx context.Context) error {
	w.load = newLoad(w)
	events := [][]webhook.EventName{webhook.EventNames, {webhook.DepositStatusChanged}}
	for _, s := range shares {
		made, err := w.NewPartner(ctx, s.name)
		if err != nil {
			return err
		}
		w.partners = append(w.partners, &made)
		w.load.owners = append(w.load.owners, slices.Repeat([]*world.Partner{&made}, s.share)...)
		for i, b := range s.endpoints {
			if err := w.subscribe(ctx, w.receivers.add(&made, b, events[i])); err != nil {
				return err
			}
		}
	}
	return nil
}

// subscribe stores the subscription of an endpoint.
func (w *suite) subscribe(ctx context.Context, e *endpoint) (err error) {
	key := secret.FromRandom(webhook.SecretPrefix, system.Entropy{}.Bytes(secret.Bytes)).Reveal()
	e.keys.Rotate()
	e.keys.Learn(key, time.Time{})
	if e.id, e.created, err = w.Subscribe(ctx, *e.owner, w.receivers.urlOf(e), e.events, key); err != nil {
		return fmt.Errorf("subscribe endpoint %d: %w", e.index, err)
	}
	return nil
}

// healthy lists the subscriptions whose endpoints cause no long waits.
func (w *suite) healthy() (ids []id.ID) {
	for _, e := range w.receivers.of("steady") {
		ids = append(ids, e.id)
	}
	return ids
}
