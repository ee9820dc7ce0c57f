package main

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/receiver"
)

// receiverRole is the argument with which bench starts itself again as the receiver of webhooks.
const receiverRole = "receiver"

// addresses is the number of the receiver's loopback addresses, one for each partner.
const addresses = 30

func hostOf(partner int) string { return fmt.Sprintf("127.0.1.%d", 1+partner%addresses) }

// receive verifies and counts webhooks, at a loopback address for each partner. /hang answers after ten seconds,
// /count returns the counts, /arrivals the arrival times since its last call.
func receive(port string) error {
	server := &fasthttp.Server{NoDefaultServerHeader: true, NoDefaultDate: true, Concurrency: 1 << 18,
		Handler: newTally().answer}
	failed := make(chan error, 1+addresses)
	serve := func(host string) { failed <- server.ListenAndServe(host + ":" + port) }
	for i := range addresses {
		go serve(hostOf(i))
	}
	go serve("127.0.0.1")
	return <-failed
}

type tally struct {
	seed maphash.Seed

	mu     sync.Mutex
	counts counts
	// Hashes of arrived webhooks; all attempts of a delivery have the same body and subscription.
	seen map[uint64]struct{}
	// First arrival times by deposit id; nil until the first call of /arrivals.
	arrivals map[string]time.Time
}

// counts is the JSON of the webhook receiver at /count.
type counts struct {
	// Deliveries with a valid signature, each counted once.
	Taken int
	// Repeated arrivals of deliveries.
	Duplicates int
	Invalid    int // Webhooks without a valid signature.
}

func newTally() *tally { return &tally{seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}} }

func (t *tally) answer(c *fasthttp.RequestCtx) {
	at, path := time.Now(), string(c.Path())
	switch path {
	case "/count":
		t.mu.Lock()
		defer t.mu.Unlock()
		_ = json.NewEncoder(c).Encode(t.counts)
		return
	case "/arrivals":
		t.mu.Lock()
		defer t.mu.Unlock()
		_ = json.NewEncoder(c).Encode(t.arrivals)
		t.arrivals = map[string]time.Time{}
		return
	}
	valid := receiver.VerifySignature(webhookSecret, string(c.Request.Header.Peek(webhook.HeaderSignature)),
		string(c.Request.Header.Peek(webhook.HeaderTimestamp)), c.PostBody(), at) == ""
	if !valid {
		c.SetStatusCode(fasthttp.StatusBadRequest)
	}
	if path == "/hang" {
		time.Sleep(10 * time.Second) //nolint:forbidigo // a slow receiver is the purpose
		return
	}
	t.add(c.QueryArgs().QueryString(), c.PostBody(), valid, at)
}

func (t *tally) add(subscription, body []byte, valid bool, at time.Time) {
	sum := maphash.Bytes(t.seed, body) ^ maphash.Bytes(t.seed, subscription)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !valid {
		t.counts.Invalid++
		return
	}
	if _, known := t.seen[sum]; known {
		t.counts.Duplicates++
		return
	}
	t.seen[sum] = struct{}{}
	t.counts.Taken++
	if t.arrivals == nil {
		return
	}
	depositID, err := depositIn(body)
	if _, known := t.arrivals[depositID]; err == nil && !known {
		t.arrivals[depositID] = at
	}
}

// ask gets a path of the webhook receiver and returns its JSON answer.
func ask[T any](w *workbench, path string) (answer T) {
	_, body, err := fasthttp.Get(nil, w.sink+path)
	check(err)
	check(json.Unmarshal(body, &answer))
	return answer
}

func (w *workbench) counted() counts { return ask[counts](w, "/count") }

// arrivals returns the first arrival of each deposit's deliveries since the last call. The first call starts the
// recording.
func (w *workbench) arrivals() map[string]time.Time { return ask[map[string]time.Time](w, "/arrivals") }

// awaitTaken waits until the receiver of webhooks has received n deliveries.
func (w *workbench) awaitTaken(ctx context.Context, n int) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	check(w.dispatchers[0].Process().AwaitCondition(ctx, func() error {
		if taken := w.counted().Taken; taken < n {
			return fmt.Errorf("%d deliveries are missing", n-taken)
		}
		return nil
	}))
}
