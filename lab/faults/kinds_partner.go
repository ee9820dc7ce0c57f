package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"partnerdeposits/core/id"
)

func init() { kinds = append(kinds, partnerKinds...) }

// withResponses overrides the responses of a partner's endpoints for span.
func withResponses(ctx context.Context, w *world, name string, o override, span time.Duration) error {
	for _, e := range w.of(name) {
		e.setOverride(o)
	}
	err := pause(ctx, span)
	for _, e := range w.of(name) {
		e.setOverride(usual)
	}
	return err
}

var partnerKinds = []fault{
	{name: "an endpoint fails for a while", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		return withResponses(ctx, w, "steady", broken, between(dice, time.Second, 5*time.Second))
	}},
	{name: "an endpoint hangs for a while", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		return withResponses(ctx, w, "changing", hanging, between(dice, time.Second, 5*time.Second))
	}},
	{name: "secrets are rotated under retries", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		for range 2 + dice.IntN(4) {
			e := w.of("changing")[0]
			if err := errors.Join(w.rotate(ctx, e), pause(ctx, between(dice, 100*time.Millisecond, time.Second))); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "a subscription is made, fails, and is deleted", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		e := w.receivers.add(w.of("changing")[0].owner, hostile, w.of("changing")[0].events)
		return errors.Join(w.create(ctx, e), pause(ctx, between(dice, time.Second, 3*time.Second)), w.remove(ctx, e))
	}},
	{name: "a subscription is disabled for a while", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		e := w.of("changing")[0]
		return errors.Join(w.enable(ctx, e, false), pause(ctx, between(dice, time.Second, 3*time.Second)), w.enable(ctx, e, true))
	}},
}

// call repeats a request until the API answers.
func (w *world) call(ctx context.Context, t *testPartner, method, path, body string) (answer, error) {
	var a answer
	for n := range uint64(200) {
		a = w.load.client.do(ctx, method, w.load.base(n), t.key, path, "", body)
		if !a.unknown() {
			break
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return a, err
		}
	}
	if !a.ok() {
		return a, fmt.Errorf("%s %s: %d %s %w", method, path, a.status, a.body, a.err)
	}
	return a, nil
}

// subscription is the API's representation of a subscription.
type subscription struct{ Data struct{ ID, Secret string } }

// rotate replaces the signing secret. Deliveries that begin after the response must not use the old secret.
func (w *world) rotate(ctx context.Context, e *endpoint) error {
	path := "/webhooks/" + id.Subscription.Of(e.id) + "/rotate-secret"
	e.replace(unknown, time.Time{}) // the new secret may sign before its response arrives
	a, err := w.call(ctx, e.owner, http.MethodPost, path, "")
	if err != nil {
		return err
	}
	var s subscription
	if err := json.Unmarshal(a.body, &s); err != nil {
		return err
	}
	e.learn(s.Data.Secret, time.Now())
	return nil
}

// learn sets the secret that replace recorded as unknown.
func (e *endpoint) learn(secret string, answered time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := len(e.secrets)
	e.secrets[n-1].secret = secret
	if n > 1 {
		e.secrets[n-2].until = answered
	}
}

func (w *world) create(ctx context.Context, e *endpoint) error {
	e.replace(unknown, time.Time{})
	events, err := json.Marshal(e.events)
	if err != nil {
		return err
	}
	a, err := w.call(ctx, e.owner, http.MethodPost, "/webhooks", `{"url":"`+w.receivers.urlOf(e)+`","events":`+string(events)+`}`)
	if err != nil {
		return err
	}
	var s subscription
	if err := json.Unmarshal(a.body, &s); err != nil {
		return err
	}
	e.learn(s.Data.Secret, time.Now())
	e.mu.Lock()
	defer e.mu.Unlock()
	e.id, _ = id.Subscription.Parse(s.Data.ID)
	e.created = time.Now()
	return nil
}

func (w *world) remove(ctx context.Context, e *endpoint) error {
	e.mu.Lock()
	e.ending = time.Now()
	path := "/webhooks/" + id.Subscription.Of(e.id)
	e.mu.Unlock()
	a, err := w.call(ctx, e.owner, http.MethodDelete, path, "")
	if a.status == http.StatusNotFound { // an earlier request without a response deleted the subscription
		err = nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.deleted = time.Now()
	return err
}

func (w *world) enable(ctx context.Context, e *endpoint, yes bool) error {
	_, err := w.call(ctx, e.owner, http.MethodPatch, "/webhooks/"+id.Subscription.Of(e.id), fmt.Sprintf(`{"enabled":%v}`, yes))
	return err
}
