package main

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/receiver"
	"partnerdeposits/lab/world"
)

// endpoint is a webhook subscription with its receiver.
type endpoint struct {
	index      int
	owner      *world.Partner
	behaviours behaviours
	events     []webhook.EventName
	keys       receiver.SigningSecrets

	mu      sync.Mutex
	id      id.ID
	created time.Time // Time at which the creation of the subscription had ended.
	// Time of the request to delete the subscription; zero: none.
	ending  time.Time
	deleted time.Time // Time of the API's answer to the deletion of the subscription.
	// A behaviour that replaces the endpoint's usual ones for a while; "": none.
	override behaviour
}

type receivers struct {
	seed     uint64
	receipts *receiptLog
	url      string

	mu        sync.Mutex
	endpoints []*endpoint
}

// elsewhere is the path to which receivers redirect webhooks. A request there is a violation.
const elsewhere = "/elsewhere"

func (w *suite) openReceivers(context.Context) error {
	w.receivers = &receivers{seed: w.o.seed, receipts: w.receipts}
	mux := http.NewServeMux()
	mux.HandleFunc(elsewhere, func(out http.ResponseWriter, _ *http.Request) {
		w.receipts.violate("redirect followed", "a redirect was followed")
		out.WriteHeader(http.StatusOK)
	})
	mux.Handle("POST /e/{index}", receiver.WebhookHandler(w.receivers.take))
	url, end, err := receiver.StartServer(mux)
	if err == nil {
		w.receivers.url = url
		w.Cleanup(end)
	}
	return err
}

// add creates a webhook endpoint, whose subscription the caller creates.
func (r *receivers) add(t *world.Partner, m behaviours, events []webhook.EventName) *endpoint {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := &endpoint{index: len(r.endpoints), owner: t, behaviours: m, events: events}
	r.endpoints = append(r.endpoints, e)
	return e
}

func (r *receivers) all() []*endpoint {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.endpoints)
}

func (r *receivers) of(name string) []*endpoint {
	return slices.DeleteFunc(r.all(), func(e *endpoint) bool { return e.owner.Name != name })
}

type payload struct {
	Event string
	Data  struct {
		ID, RentalContract string
		Status             status
	}
}

func (r *receivers) take(w receiver.Webhook) (receiver.Responder, func(bool)) {
	index, _ := strconv.Atoi(w.Request.PathValue("index"))
	e := r.all()[index]
	var p payload
	if err := json.Unmarshal(w.Body, &p); err != nil {
		r.receipts.violate("body", "endpoint %d: %v", index, err)
		return receiver.RespondOK, nil
	}
	depositID, _ := id.Deposit.Parse(p.Data.ID)
	k := deliveryKey{deposit: depositID, status: p.Data.Status, endpoint: index}
	r.inspect(e, w, p)
	dice := r.dice(e, p, r.receipts.arrive(k, w.Body))
	e.mu.Lock()
	way := e.override
	e.mu.Unlock()
	if way == "" {
		way = e.behaviours.choose(dice)
	}
	return answers[way], func(taken bool) { r.receipts.answer(k, w.At, taken) }
}

// inspect checks the invariants of a copy of a webhook, such as its signature.
func (r *receivers) inspect(e *endpoint, w receiver.Webhook, p payload) {
	if reason := e.keys.VerifyWebhook(w); reason != "" {
		r.receipts.violate("signature", "endpoint %d: %s of %s: %s", e.index, p.Event, p.Data.ID, reason)
	}
	if w.EventName() != p.Event {
		r.receipts.violate("event", "endpoint %d: the header says %q, the body %q", e.index, w.EventName(), p.Event)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.deleted.IsZero() && w.At.After(e.deleted.Add(receiver.LateArrivalWindow)) {
		r.receipts.violate("deleted", "endpoint %d: a POST %v after its deletion was answered", e.index,
			w.At.Sub(e.deleted))
	}
}

// dice returns random numbers for the answer to a webhook, which a seed repeats.
func (r *receivers) dice(e *endpoint, p payload, nth int) *rand.Rand {
	const spread = 1_000
	number, _ := strconv.ParseUint(strings.TrimPrefix(p.Data.RentalContract, contractPrefix), 10, 64)
	return rand.New(rand.NewPCG(r.seed+uint64(e.index), number*spread+uint64(nth))) //nolint:gosec // repeatable
}
