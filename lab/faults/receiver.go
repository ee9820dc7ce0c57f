package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/receiver"
)

// endpoint is a subscription and the receiver behind its URL.
type endpoint struct {
	index      int
	owner      *testPartner
	behaviours behaviours
	events     []string

	mu       sync.Mutex
	id       id.ID
	secrets  []signingKey
	created  time.Time // when the creation was answered
	ending   time.Time // when the deletion was requested; zero: not deleted
	deleted  time.Time // when the deletion was answered
	override override
}

// signingKey is a signing secret and the period in which it may sign.
type signingKey struct {
	secret string
	until  time.Time // time of the response to the rotation that replaced the secret; zero: current secret
}

// unknown stands for the current secret while the response to a rotation is missing.
const unknown = ""

// override replaces an endpoint's behaviour for a while.
type override int

const (
	usual override = iota
	broken
	hanging
)

// settling is the time after the response to a rotation or deletion in which a copy sent before may still arrive.
const settling = 3 * time.Second

// replace makes secret the current secret from the start of the rotation on. answered is the time of the response, at
// which the old secret ends; zero: no response.
func (e *endpoint) replace(secret string, answered time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.secrets); n > 0 && !answered.IsZero() {
		e.secrets[n-1].until = answered
	}
	e.secrets = append(e.secrets, signingKey{secret: secret})
}

func (e *endpoint) setOverride(o override) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.override = o
}

// verify checks the signature with every secret that may sign at the time of arrival.
func (e *endpoint) verify(r *http.Request, body []byte, arrived time.Time) receiver.Reason {
	e.mu.Lock()
	keys := append([]signingKey(nil), e.secrets...)
	e.mu.Unlock()
	reason := receiver.Missing
	for _, k := range keys {
		if k.secret == unknown {
			return ""
		}
		if !k.until.IsZero() && arrived.After(k.until.Add(settling)) {
			continue
		}
		reason = receiver.Verify(k.secret, r.Header.Get("X-Svc-Signature"), r.Header.Get("X-Svc-Timestamp"), body, arrived)
		if reason == "" {
			return ""
		}
	}
	return reason
}

// receivers serve all endpoints.
type receivers struct {
	seed     uint64
	receipts *receiptLog
	url      string
	server   *http.Server

	mu        sync.Mutex
	endpoints []*endpoint
	traps     [2]atomic.Pointer[trap] // by dispatcher
}

// trap catches a POST of a dispatcher and leaves it without a response.
type trap struct {
	caught chan struct{}
	once   sync.Once
}

func newReceivers(seed uint64, l *receiptLog) (*receivers, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receivers{seed: seed, receipts: l, url: "http://" + listener.Addr().String()}
	mux := http.NewServeMux()
	mux.HandleFunc("/elsewhere", func(w http.ResponseWriter, _ *http.Request) {
		l.violate("redirect followed", "a redirect was followed")
		w.WriteHeader(http.StatusOK)
	})
	mux.HandleFunc("POST /e/{index}", r.serve)
	r.server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() {
		if err := r.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			l.violate("receiver", "the receiver ended: %v", err)
		}
	}()
	return r, nil
}

func (r *receivers) close() { _ = r.server.Close() }

// add creates an endpoint; the caller creates its subscription.
func (r *receivers) add(t *testPartner, m behaviours, events []string) *endpoint {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := &endpoint{index: len(r.endpoints), owner: t, behaviours: m, events: events}
	r.endpoints = append(r.endpoints, e)
	return e
}

func (r *receivers) urlOf(e *endpoint) string { return r.url + "/e/" + strconv.Itoa(e.index) }

func (r *receivers) all() []*endpoint {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*endpoint(nil), r.endpoints...)
}

// catch sets a trap for the next POST of a dispatcher; release removes the trap.
func (r *receivers) catch(dispatcher int) (caught <-chan struct{}, release func()) {
	t := &trap{caught: make(chan struct{})}
	r.traps[dispatcher].Store(t)
	return t.caught, func() { r.traps[dispatcher].CompareAndSwap(t, nil) }
}

// payload is the part of a body that receivers read.
type payload struct {
	Event string
	Data  struct {
		ID, RentalContract string
		Status             status
	}
}

func (r *receivers) serve(w http.ResponseWriter, req *http.Request) {
	arrived := time.Now()
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the sender died while sending
	}
	index, _ := strconv.Atoi(req.PathValue("index"))
	e := r.all()[index]
	var p payload
	if err := json.Unmarshal(body, &p); err != nil {
		r.receipts.violate("body", "endpoint %d: %v", index, err)
		return
	}
	depositID, _ := id.Deposit.Parse(p.Data.ID)
	k := key{deposit: depositID, status: p.Data.Status, endpoint: index}
	r.inspect(e, req, body, p, arrived)
	nth := r.receipts.arrive(k, body)
	ended := refused
	defer func() { r.receipts.answer(k, arrived, ended) }()
	switch {
	case r.trapped(req):
		ended = abandoned
	case r.respond(w, req, e, p, nth):
		ended = taken
	}
}

// inspect checks the invariants of a single copy.
func (r *receivers) inspect(e *endpoint, req *http.Request, body []byte, p payload, arrived time.Time) {
	if reason := e.verify(req, body, arrived); reason != "" {
		r.receipts.violate("signature", "endpoint %d: %s of %s: %s", e.index, p.Event, p.Data.ID, reason)
	}
	if req.Header.Get("X-Svc-Event") != p.Event {
		r.receipts.violate("event", "endpoint %d: the header says %q, the body %q", e.index, req.Header.Get("X-Svc-Event"), p.Event)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.deleted.IsZero() && arrived.After(e.deleted.Add(settling)) {
		r.receipts.violate("deleted", "endpoint %d: a POST %v after its deletion was answered", e.index, arrived.Sub(e.deleted))
	}
}

// dispatcherOf gives the index of the dispatcher that sent a copy: only dispatcher 0 sends event ids.
func dispatcherOf(req *http.Request) int {
	if req.Header.Get("X-Svc-Event-Id") != "" {
		return 0
	}
	return 1
}

// trapped keeps a copy that a trap waits for open until its sender is gone.
func (r *receivers) trapped(req *http.Request) bool {
	d := dispatcherOf(req)
	t := r.traps[d].Load()
	if t == nil {
		return false
	}
	mine := false
	t.once.Do(func() { mine = true })
	if !mine {
		return false
	}
	close(t.caught)
	awaitGone(req.Context())
	return true
}

// awaitGone waits until the sender has given up or died.
func awaitGone(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Minute):
	}
}

// ordinal is the number of the deposit in the load. Behaviour depends on the number, so that a seed repeats it.
func ordinal(p payload) uint64 {
	n, _ := strconv.ParseUint(strings.TrimPrefix(p.Data.RentalContract, contractPrefix), 10, 64)
	return n
}

func (r *receivers) dice(e *endpoint, p payload, nth int) *rand.Rand {
	const spread = 1_000
	return rand.New(rand.NewPCG(r.seed+uint64(e.index), ordinal(p)*spread+uint64(nth))) //nolint:gosec // repeatable on purpose
}
