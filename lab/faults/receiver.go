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

// endpoint is a subscription and the receiver behind its URL.
type endpoint struct {
	index      int
	owner      *world.Partner
	behaviours behaviours
	events     []webhook.EventName
	keys       receiver.Keys

	mu       sync.Mutex
	id       id.ID
	created  time.Time // when the creation had ended
	ending   time.Time // when the deletion was requested; zero: not deleted
	deleted  time.Time // when the deletion was answered
	override behaviour // in place of behaviours, for a while; "": none
}

// receivers serve all endpoints.
type receivers struct {
	seed     uint64
	receipts *receiptLog
	url      string

	mu        sync.Mutex
	endpoints []*endpoint
}

// elsewhere is where redirects lead.
const elsewhere = "/elsewhere"

func (w *suite) openReceivers(context.Context) error {
	w.receivers = &receivers{seed: w.o.seed, receipts: w.receipts}
	mux := http.NewServeMux()
	mux.HandleFunc(elsewhere, func(out http.ResponseWriter, _ *http.Request) {
		w.receipts.violate("redirect followed", "a redirect was followed")
		out.WriteHeader(http.StatusOK)
	})
	mux.Handle("POST /e/{index}", receiver.Serve(w.receivers.take))
	url, end, err := receiver.Listen(mux)
	if err == nil {
		w.receivers.url = url
		w.Cleanup(end)
	}
	return err
}

// add creates an endpoint; the caller creates its subscription.
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

// of gives the endpoints of a partner.
func (r *receivers) of(name string) []*endpoint {
	return slices.DeleteFunc(r.all(), func(e *endpoint) bool { return e.owner.Name != name })
}

// payload is the part of a body that receivers read.
type payload struct {
	Event string
	Data  struct {
		ID, RentalContract string
		Status             status
	}
}

// take records a copy and chooses its answer.
func (r *receivers) take(w receiver.Webhook) (receiver.Answer, func(bool)) {
	index, _ := strconv.Atoi(w.Request.PathValue("index"))
	e := r.all()[index]
	var p payload
	if err := json.Unmarshal(w.Body, &p); err != nil {
		r.receipts.violate("body", "endpoint %d: %v", index, err)
		return receiver.Take, nil
	}
	depositID, _ := id.Deposit.Parse(p.Data.ID)
	k := key{deposit: depositID, status: p.Data.Status, endpoint: index}
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

// inspect checks the invariants of a single copy.
func (r *receivers) inspect(e *endpoint, w receiver.Webhook, p payload) {
	if reason := e.keys.Check(w); reason != "" {
		r.receipts.violate("signature", "endpoint %d: %s of %s: %s", e.index, p.Event, p.Data.ID, reason)
	}
	if w.Event() != p.Event {
		r.receipts.violate("event", "endpoint %d: the header says %q, the body %q", e.index, w.Event(), p.Event)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.deleted.IsZero() && w.At.After(e.deleted.Add(receiver.Settling)) {
		r.receipts.violate("deleted", "endpoint %d: a POST %v after its deletion was answered", e.index,
			w.At.Sub(e.deleted))
	}
}

// dice depend on the deposit's number in the load, so that a seed repeats the answers.
func (r *receivers) dice(e *endpoint, p payload, nth int) *rand.Rand {
	const spread = 1_000
	number, _ := strconv.ParseUint(strings.TrimPrefix(p.Data.RentalContract, contractPrefix), 10, 64)
	return rand.New(rand.NewPCG(r.seed+uint64(e.index), number*spread+uint64(nth))) //nolint:gosec // repeatable
}
