package main

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/receiver"
)

// tally counts the deliveries that the receiver takes.
type tally struct {
	seed maphash.Seed

	mu       sync.Mutex
	counts   counts
	seen     map[uint64]struct{}  // hashes of address, path and body, which are the same for all attempts of a delivery
	arrivals map[string]time.Time // first arrival by deposit id; nil until the first call of /arrivals
}

// counts are the figures of /count.
type counts struct {
	Taken      int // deliveries with a valid signature, each once
	Duplicates int // further arrivals of a delivery
	Invalid    int // arrivals without a valid signature
}

func (c counts) since(before counts) counts {
	return counts{c.Taken - before.Taken, c.Duplicates - before.Duplicates, c.Invalid - before.Invalid}
}

func newTally() *tally { return &tally{seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}} }

func (t *tally) answer(c *fasthttp.RequestCtx) {
	path := string(c.Path())
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
	valid := receiver.Verify(webhookSecret, string(c.Request.Header.Peek(webhook.HeaderSignature)),
		string(c.Request.Header.Peek(webhook.HeaderTimestamp)), c.PostBody(), time.Now()) == ""
	if !valid {
		c.SetStatusCode(fasthttp.StatusBadRequest)
	}
	switch path {
	case "/hang":
		time.Sleep(10 * time.Second) //nolint:forbidigo // a slow receiver is the purpose
	case "/elsewhere":
	default:
		t.add(c.Host(), path, c.PostBody(), valid, time.Now())
	}
}

func (t *tally) add(host []byte, path string, body []byte, valid bool, at time.Time) {
	var h maphash.Hash
	h.SetSeed(t.seed)
	_, _ = h.Write(host) // never fails
	_, _ = h.WriteString(path)
	_, _ = h.Write(body)
	sum := h.Sum64()
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
	if depositID, err := idIn(body, id.Deposit); err == nil {
		if _, known := t.arrivals[depositID]; !known {
			t.arrivals[depositID] = at
		}
	}
}

// ask gives the receiver's answer.
func (w *workbench) ask(path string, answer any) error {
	_, body, err := fasthttp.Get(nil, w.sink+path)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, answer)
}

// counted asks the receiver for its figures.
func (w *workbench) counted() (found counts) {
	check(w.ask("/count", &found))
	return found
}

func (w *workbench) taken() int { return w.counted().Taken }

// arrivals gives the first arrival of each deposit's deliveries since the last call, and starts the record.
func (w *workbench) arrivals() (found map[string]time.Time) {
	check(w.ask("/arrivals", &found))
	return found
}

// awaitTaken waits until the receiver has taken n deliveries, as long as some arrive each minute.
func (w *workbench) awaitTaken(ctx context.Context, n int) {
	const patience = time.Minute
	last, before := time.Now(), 0
	for {
		taken := w.taken()
		if taken >= n {
			return
		}
		if taken > before {
			last, before = time.Now(), taken
		}
		if time.Since(last) > patience {
			check(fmt.Errorf("%d deliveries are missing, and none came in %v\n%s", n-taken, patience, w.dispatcher.Process().Log()))
		}
		check(pause(ctx, 20*time.Millisecond))
	}
}
