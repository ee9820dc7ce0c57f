package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"partnerdeposits/adapters/system"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/world"
)

// shares lists the load's partners, their shares in percent, and how their endpoints behave, so that every fault
// meets each behaviour.
var shares = []struct {
	name  string
	share int
	// Behaviours of the partner's endpoints, of which a second one subscribes to the general event alone.
	endpoints []behaviours
}{
	{"steady", 55, []behaviours{polite}}, {"double", 20, []behaviours{moody, moody}},
	{"hostile", 15, []behaviours{hostile}}, {"changing", 10, []behaviours{moody}},
}

// seed creates the partners and subscriptions before any process runs.
func (w *suite) seed(ctx context.Context) error {
	w.load = newLoad(w)
	events := [][]webhook.EventName{webhook.EventNames, {webhook.EventDepositStatusChanged}}
	for _, s := range shares {
		made, err := w.CreatePartner(ctx, s.name)
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

// subscribe stores an endpoint's webhook subscription with a new signing secret.
func (w *suite) subscribe(ctx context.Context, e *endpoint) (err error) {
	key := secret.FromRandom(webhook.SigningSecretPrefix, system.Entropy{}.Bytes(secret.MinRandomBytes)).Reveal()
	e.keys.BeginRotation()
	e.keys.RecordNewSecret(key, time.Time{})
	e.id, err = w.CreateSubscription(ctx, *e.owner, w.receivers.url+"/e/"+strconv.Itoa(e.index), e.events, key)
	e.created = time.Now()
	return err
}

// call repeats a partner's API request until the API answers. An answer other than 2xx is an error.
func (w *suite) call(ctx context.Context, t *world.Partner, method, path, body string) (world.APIResponse, error) {
	a := w.load.ask(ctx, 0, world.APICall{APIKey: t.Key, Method: method, Path: path, Body: body})
	if !a.OK() {
		return a, fmt.Errorf("%s %s: %d %s %w", method, path, a.Status, a.Body, a.Err)
	}
	return a, nil
}

// rotate replaces the signing secret of an endpoint through the API. The new secret may sign before the response;
// the old one not after it.
func (w *suite) rotate(ctx context.Context, e *endpoint) error {
	e.keys.BeginRotation()
	a, err := w.call(ctx, e.owner, http.MethodPost, "/webhooks/"+id.Subscription.Of(e.id)+"/rotate-secret", "")
	if err != nil {
		return err
	}
	var s struct{ Secret string }
	err = a.DecodeData(&s)
	e.keys.RecordNewSecret(s.Secret, time.Now())
	return err
}

// remove deletes an endpoint's subscription through the API.
func (w *suite) remove(ctx context.Context, e *endpoint) error {
	e.mu.Lock()
	e.ending = time.Now()
	path := "/webhooks/" + id.Subscription.Of(e.id)
	e.mu.Unlock()
	a, err := w.call(ctx, e.owner, http.MethodDelete, path, "")
	// After a 404, an earlier request whose answer was lost has deleted the subscription.
	if a.Status == http.StatusNotFound {
		err = nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.deleted = time.Now()
	return err
}

// patch returns a function that changes an endpoint's subscription through the API.
func patch(body string) func(w *suite, ctx context.Context, e *endpoint) error {
	return func(w *suite, ctx context.Context, e *endpoint) error {
		_, err := w.call(ctx, e.owner, http.MethodPatch, "/webhooks/"+id.Subscription.Of(e.id), body)
		return err
	}
}
