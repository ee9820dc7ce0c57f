package stripetest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/stripe/stripe-go/v85/webhook"
)

type Event struct {
	ID, Type string
	Body     []byte
}

// DeliveryPlan is how the fake sends webhook events. The zero value sends each once, immediately and in order.
type DeliveryPlan struct {
	Delay time.Duration
	Twice bool
	// Whether waiting events are sent in the opposite order.
	Reversed bool
}

func (f *Fake) SetDeliveryPlan(plan DeliveryPlan) { f.change(func() { f.plan = plan }) }

func (f *Fake) Events() []Event { return locked(f, func() []Event { return slices.Clone(f.events) }) }

// emit queues a webhook event about an object. The fake's state must be locked.
func (f *Fake) emit(kind string, about object) {
	e := Event{ID: f.newID("evt"), Type: kind}
	e.Body = encoded(map[string]any{
		"id": e.ID, "object": "event", "type": kind, "created": f.now().Unix(), "api_version": "2026-10-28.later",
		"data": map[string]any{"object": about.json(f, nil)},
	})
	f.events = append(f.events, e)
	if f.options.Webhooks != "" {
		f.queue = append(f.queue, e)
		select {
		case f.wake <- struct{}{}:
		default:
		}
	}
}

// SignWebhook returns the Stripe-Signature header for a webhook body.
func SignWebhook(body []byte, secret string, at time.Time) string {
	return webhook.GenerateTestSignedPayload(
		&webhook.UnsignedPayload{Payload: body, Secret: secret, Timestamp: at}).Header
}

// send posts a signed webhook event. A failed POST is not repeated: the service reads payments whose event it
// missed from Stripe's API.
func (f *Fake) send(ctx context.Context, e Event) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.options.Webhooks, bytes.NewReader(e.Body))
	if err != nil {
		panic(err) // A test has set the URL, so it can be parsed.
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Stripe-Signature", SignWebhook(e.Body, f.options.Secret, f.Now()))
	if res, err := f.client.Do(r); err == nil {
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
	}
}

// sendQueue sends the queued webhook events as planned, until Close.
func (f *Fake) sendQueue() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for {
		select {
		case <-f.closing:
			return
		case <-f.wake:
		}
		plan := locked(f, func() DeliveryPlan { return f.plan })
		if plan.Delay > 0 && !f.wait(plan.Delay) {
			return
		}
		f.mu.Lock()
		batch := f.queue
		f.queue = nil
		f.mu.Unlock()
		if plan.Reversed {
			slices.Reverse(batch)
		}
		for _, e := range batch {
			f.send(ctx, e)
			if plan.Twice {
				f.send(ctx, e)
			}
		}
	}
}
