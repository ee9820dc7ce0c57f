package stripetest

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"
)

// Event is a webhook.
type Event struct {
	ID, Type  string
	PaymentID string // as in the metadata of the object
	Body      []byte
}

// Delivery tells how events are sent. The zero value sends each once, at once and in order.
type Delivery struct {
	Delay    time.Duration
	Twice    bool
	Reversed bool // events that wait together are sent in the opposite order
}

// Deliver tells how events are sent from now on.
func (f *Fake) Deliver(plan Delivery) { f.change(func() { f.plan = plan }) }

// Events lists the events so far, oldest first.
func (f *Fake) Events() []Event { return locked(f, func() []Event { return slices.Clone(f.events) }) }

// emit makes an event. The state is locked.
func (f *Fake) emit(kind string, about object) {
	e := Event{ID: f.newID("evt"), Type: kind}
	shown := about.json(f, nil)
	if metadata, ok := shown["metadata"].(map[string]string); ok {
		e.PaymentID = metadata[PaymentKey]
	}
	e.Body = encoded(map[string]any{
		"id": e.ID, "object": "event", "type": kind, "created": f.now().Unix(), "livemode": false,
		"api_version": "2026-10-28.later", "pending_webhooks": 1, "data": map[string]any{"object": shown},
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

// Sign gives the header Stripe-Signature of a body that is sent at that time.
func Sign(body []byte, secret string, at time.Time) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", at.Unix(), body)
	return fmt.Sprintf("t=%d,v1=%s", at.Unix(), hex.EncodeToString(mac.Sum(nil)))
}

// Send posts an event to a URL, signed now, and gives the status of the answer.
func (f *Fake) Send(ctx context.Context, target string, e Event) (int, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(e.Body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Stripe-Signature", Sign(e.Body, f.options.Secret, f.Now()))
	res, err := f.client.Do(r)
	if err != nil {
		return 0, err
	}
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode, res.Body.Close()
}

// sendQueue sends events as the plan tells, until Close.
func (f *Fake) sendQueue() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for {
		select {
		case <-f.closing:
			return
		case <-f.wake:
		}
		plan := locked(f, func() Delivery { return f.plan })
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
			_, _ = f.Send(ctx, f.options.Webhooks, e) // a lost webhook is the receiver's lookout: the service asks by itself
			if plan.Twice {
				_, _ = f.Send(ctx, f.options.Webhooks, e)
			}
		}
	}
}
