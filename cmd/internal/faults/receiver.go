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

	"partnerdeposits/cmd/internal/receiver"
	"partnerdeposits/core/id"
)

// endpoint is one subscription and the receiver behind it.
type endpoint struct {
	index   int
	tenancy *tenancy
	manners manners
	events  []string

	mu      sync.Mutex
	id      id.ID
	secrets []signingKey
	created time.Time // when its creation was answered
	ending  time.Time // when its deletion was asked for; zero: it lives
	deleted time.Time // when its deletion was answered
	mood    mood
}

// signingKey is a secret and the time in which it may sign.
type signingKey struct {
	secret string
	until  time.Time // the answer to the rotation that replaced it; zero: it is the present one
}

// unknown is the present secret when the answer to a rotation was lost.
const unknown = ""

// mood overrides manners for a while.
type mood int

const (
	usual mood = iota
	broken
	hanging
)

// settling is how long after the answer to a rotation or deletion a copy may still arrive: it was on its way.
const settling = 3 * time.Second

// replace makes secret the present one, from the moment when the rotation was asked for; answered tells whether the
// rotation was answered, so that the old one is over.
func (e *endpoint) replace(secret string, answered time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.secrets); n > 0 && !answered.IsZero() {
		e.secrets[n-1].until = answered
	}
	e.secrets = append(e.secrets, signingKey{secret: secret})
}

func (e *endpoint) setMood(m mood) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mood = m
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
	seed   uint64
	ledger *ledger
	url    string
	server *http.Server

	mu        sync.Mutex
	endpoints []*endpoint
	traps     [2]atomic.Pointer[trap] // by dispatcher
}

// trap waits for a POST of one dispatcher and does not answer it.
type trap struct {
	caught chan struct{}
	once   sync.Once
}

func newReceivers(seed uint64, l *ledger) (*receivers, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receivers{seed: seed, ledger: l, url: "http://" + listener.Addr().String()}
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

// add makes an endpoint; its subscription is created by the caller.
func (r *receivers) add(t *tenancy, m manners, events []string) *endpoint {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := &endpoint{index: len(r.endpoints), tenancy: t, manners: m, events: events}
	r.endpoints = append(r.endpoints, e)
	return e
}

func (r *receivers) urlOf(e *endpoint) string { return r.url + "/e/" + strconv.Itoa(e.index) }

func (r *receivers) all() []*endpoint {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*endpoint(nil), r.endpoints...)
}

// catch sets a trap for the next POST of a dispatcher; release takes it away.
func (r *receivers) catch(dispatcher int) (caught <-chan struct{}, release func()) {
	t := &trap{caught: make(chan struct{})}
	r.traps[dispatcher].Store(t)
	return t.caught, func() { r.traps[dispatcher].CompareAndSwap(t, nil) }
}

// payload is what the receiver reads of a body.
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
		return // the sender died while it sent
	}
	index, _ := strconv.Atoi(req.PathValue("index"))
	e := r.all()[index]
	var p payload
	if err := json.Unmarshal(body, &p); err != nil {
		r.ledger.violate("body", "endpoint %d: %v", index, err)
		return
	}
	depositID, _ := id.Deposit.Parse(p.Data.ID)
	k := key{deposit: depositID, status: p.Data.Status, endpoint: index}
	r.inspect(e, req, body, p, arrived)
	nth := r.ledger.arrive(k, body)
	ended := refused
	defer func() { r.ledger.answer(k, arrived, ended) }()
	switch {
	case r.trapped(req):
		ended = abandoned
	case r.respond(w, req, e, p, nth):
		ended = taken
	}
}

// inspect checks what must hold for every copy.
func (r *receivers) inspect(e *endpoint, req *http.Request, body []byte, p payload, arrived time.Time) {
	if reason := e.verify(req, body, arrived); reason != "" {
		r.ledger.violate("signature", "endpoint %d: %s of %s: %s", e.index, p.Event, p.Data.ID, reason)
	}
	if req.Header.Get("X-Svc-Event") != p.Event {
		r.ledger.violate("event", "endpoint %d: the header says %q, the body %q", e.index, req.Header.Get("X-Svc-Event"), p.Event)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.deleted.IsZero() && arrived.After(e.deleted.Add(settling)) {
		r.ledger.violate("deleted", "endpoint %d: a POST %v after its deletion was answered", e.index, arrived.Sub(e.deleted))
	}
}

// dispatcherOf tells who sent a copy: the first dispatcher is set up to send an event id.
func dispatcherOf(req *http.Request) int {
	if req.Header.Get("X-Svc-Event-Id") != "" {
		return 0
	}
	return 1
}

// trapped holds a copy that a trap waits for until its sender is gone.
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

// awaitGone waits until the sender has given up, or is dead.
func awaitGone(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Minute):
	}
}

// ordinal is the number of the change in the load: behaviour hangs on it, so that a seed repeats it.
func ordinal(p payload) uint64 {
	n, _ := strconv.ParseUint(strings.TrimPrefix(p.Data.RentalContract, contractPrefix), 10, 64)
	return n
}

func (r *receivers) dice(e *endpoint, p payload, nth int) *rand.Rand {
	const spread = 1_000
	return rand.New(rand.NewPCG(r.seed+uint64(e.index), ordinal(p)*spread+uint64(nth))) //nolint:gosec // repeatable on purpose
}
