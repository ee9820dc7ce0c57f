package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/world"
)

// call repeats a request until the API answers.
func (w *suite) call(ctx context.Context, t *world.Partner, method, path, body string) (world.Answer, error) {
	a := w.load.ask(ctx, 0, world.Call{APIKey: t.Key, Method: method, Path: path, Body: body})
	if !a.OK() {
		return a, fmt.Errorf("%s %s: %d %s %w", method, path, a.Status, a.Body, a.Err)
	}
	return a, nil
}

// rotate replaces the signing secret. Deliveries that begin after the response must not use the old secret.
func (w *suite) rotate(ctx context.Context, e *endpoint) error {
	_, err := w.newSecret(ctx, e, "/webhooks/"+id.Subscription.Of(e.id)+"/rotate-secret", "")
	return err
}

// newSecret makes a request whose answer has a signing secret. The secret may sign before its response arrives.
func (w *suite) newSecret(ctx context.Context, e *endpoint, path, body string) (subscriptionID string, err error) {
	e.keys.Rotate()
	a, err := w.call(ctx, e.owner, http.MethodPost, path, body)
	if err != nil {
		return "", err
	}
	var s struct{ ID, Secret string }
	if err := a.Into(&s); err != nil {
		return "", err
	}
	e.keys.Learn(s.Secret, time.Now())
	return s.ID, nil
}

func (w *suite) create(ctx context.Context, e *endpoint) error {
	events, err := json.Marshal(e.events)
	if err != nil {
		return err
	}
	made, err := w.newSecret(ctx, e, "/webhooks", fmt.Sprintf(`{"url":%q,"events":%s}`, w.receivers.urlOf(e), events))
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.id, _ = id.Subscription.Parse(made)
	e.created = time.Now()
	return nil
}

func (w *suite) remove(ctx context.Context, e *endpoint) error {
	e.mu.Lock()
	e.ending = time.Now()
	path := "/webhooks/" + id.Subscription.Of(e.id)
	e.mu.Unlock()
	a, err := w.call(ctx, e.owner, http.MethodDelete, path, "")
	if a.Status == http.StatusNotFound { // an earlier request without a response deleted the subscription
		err = nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.deleted = time.Now()
	return err
}

// patch changes a subscription.
func patch(body string) func(w *suite, ctx context.Context, e *endpoint) error {
	return func(w *suite, ctx context.Context, e *endpoint) error {
		_, err := w.call(ctx, e.owner, http.MethodPatch, "/webhooks/"+id.Subscription.Of(e.id), body)
		return err
	}
}
