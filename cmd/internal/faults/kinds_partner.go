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

// inMood changes how a partner's endpoints answer, for span.
func inMood(ctx context.Context, w *world, name string, m mood, span time.Duration) error {
	for _, e := range w.of(name) {
		e.setMood(m)
	}
	err := hold(ctx, span)
	for _, e := range w.of(name) {
		e.setMood(usual)
	}
	return err
}

var partnerKinds = []fault{
	{name: "an endpoint fails for a while", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		return inMood(ctx, w, "steady", broken, between(dice, time.Second, 5*time.Second))
	}},
	{name: "an endpoint hangs for a while", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		return inMood(ctx, w, "changing", hanging, between(dice, time.Second, 5*time.Second))
	}},
	{name: "secrets are rotated under retries", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		for range 2 + dice.IntN(4) {
			e := w.of("changing")[0]
			if err := errors.Join(w.rotate(ctx, e), hold(ctx, between(dice, 100*time.Millisecond, time.Second))); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "a subscription is made, fails, and is deleted", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		e := w.receivers.add(w.of("changing")[0].tenancy, hostile, w.of("changing")[0].events)
		return errors.Join(w.create(ctx, e), hold(ctx, between(dice, time.Second, 3*time.Second)), w.remove(ctx, e))
	}},
	{name: "a subscription is disabled for a while", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		e := w.of("changing")[0]
		return errors.Join(w.enable(ctx, e, false), hold(ctx, between(dice, time.Second, 3*time.Second)), w.enable(ctx, e, true))
	}},
}

// call asks the API until it answers.
func (w *world) call(ctx context.Context, t *tenancy, method, path, body string) (answer, error) {
	var a answer
	for n := range uint64(200) {
		a = w.load.client.do(ctx, method, w.load.base(n), t.key, path, "", body)
		if !a.unknown() {
			break
		}
		if err := hold(ctx, 50*time.Millisecond); err != nil {
			return a, err
		}
	}
	if !a.ok() {
		return a, fmt.Errorf("%s %s: %d %s %w", method, path, a.status, a.body, a.err)
	}
	return a, nil
}

// subscription is what the API says of one.
type subscription struct{ Data struct{ ID, Secret string } }

// rotate asks for a new secret. The old one signs nothing that is begun after the answer.
func (w *world) rotate(ctx context.Context, e *endpoint) error {
	path := "/webhooks/" + id.Subscription.Of(e.id) + "/rotate-secret"
	e.replace(unknown, time.Time{}) // it may sign before we know it
	a, err := w.call(ctx, e.tenancy, http.MethodPost, path, "")
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

// learn names the secret that replace did not know.
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
	a, err := w.call(ctx, e.tenancy, http.MethodPost, "/webhooks", `{"url":"`+w.receivers.urlOf(e)+`","events":`+string(events)+`}`)
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
	a, err := w.call(ctx, e.tenancy, http.MethodDelete, path, "")
	if a.status == http.StatusNotFound { // an earlier request was not answered, and did it
		err = nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.deleted = time.Now()
	return err
}

func (w *world) enable(ctx context.Context, e *endpoint, yes bool) error {
	_, err := w.call(ctx, e.tenancy, http.MethodPatch, "/webhooks/"+id.Subscription.Of(e.id), fmt.Sprintf(`{"enabled":%v}`, yes))
	return err
}
