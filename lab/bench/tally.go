package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/receiver"
)

// tally counts the deliveries that the receiver takes.
type tally struct {
	seed maphash.Seed

	mu       sync.Mutex
	counts   counts
	seen     map[uint64]struct{}  // hashes of address, path and body, which are the same for all attempts of a delivery
	arrivals map[string]time.Time // first arrival by deposit id; nil until somebody asks for arrivals
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
		t.writeArrivals(c)
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
	if depositID, err := idIn(body); err == nil {
		if _, known := t.arrivals[depositID]; !known {
			t.arrivals[depositID] = at
		}
	}
}

// writeArrivals answers with a line for each deposit: its id, and the arrival of its first delivery in Unix nanoseconds.
// Then it forgets them.
func (t *tally) writeArrivals(c *fasthttp.RequestCtx) {
	t.mu.Lock()
	arrivals := t.arrivals
	t.arrivals = map[string]time.Time{}
	t.mu.Unlock()
	for depositID, at := range arrivals {
		_, _ = fmt.Fprintf(c, "%s %d\n", depositID, at.UnixNano())
	}
}

// counted asks the receiver for its figures; none while it does not answer.
func (w *world) counted() (found counts) {
	_, body, err := fasthttp.Get(nil, w.sink+"/count")
	if err == nil {
		_ = json.Unmarshal(body, &found) // as if there were none
	}
	return found
}

func (w *world) taken() int { return w.counted().Taken }

// arrivals gives the first arrival of each deposit's deliveries since the last call, and starts the record.
func (w *world) arrivals() (map[string]time.Time, error) {
	_, body, err := fasthttp.Get(nil, w.sink+"/arrivals")
	if err != nil {
		return nil, err
	}
	found := map[string]time.Time{}
	for line := range bytes.Lines(body) {
		depositID, at, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		nanos, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			return nil, err
		}
		found[depositID] = time.Unix(0, nanos)
	}
	return found, nil
}

// awaitTaken waits until the receiver has taken n deliveries more than before.
func (w *world) awaitTaken(ctx context.Context, before, n int, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for w.taken()-before < n {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d deliveries arrived in %v\n%s", w.taken()-before, n, patience, w.dispatcher.Log())
		case <-ticker.C:
		}
	}
	return nil
}
