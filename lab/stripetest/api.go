package stripetest

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
)

// call is a request to the fake's copy of Stripe's API.
type call struct {
	*Request
	id  string // The Stripe object's id in the path.
	run endpoint
}

// serveAPI answers a request to the fake of Stripe, after the fault that a test has planned.
func (f *Fake) serveAPI(w http.ResponseWriter, r *http.Request, run endpoint) {
	if r.ParseForm() != nil {
		drop()
	}
	c := call{id: r.PathValue("id"), run: run, Request: &Request{Method: r.Method, Path: r.URL.Path,
		Version: r.Header.Get("Stripe-Version"), Params: r.Form}}
	if r.Method == http.MethodPost {
		c.Key = r.Header.Get("Idempotency-Key")
	}
	f.change(func() {
		if len(f.requests) < maxRequests {
			f.requests = append(f.requests, c.Request)
		}
	})
	fault := f.takeFault(r)
	switch fault.Kind {
	case FaultLostBeforeEffect:
		drop()
	case FaultHang:
		select {
		case <-r.Context().Done():
		case <-f.closing:
		}
		drop()
	case FaultLateEffect:
		f.late.Add(1)
		f.sending.Go(func() {
			defer f.late.Add(-1)
			if f.wait(fault.Delay) {
				f.perform(c, Fault{})
			}
		})
		drop()
	case FaultTooManyRequests:
		write(w, refusal(&apiError{status: http.StatusTooManyRequests, Kind: "invalid_request_error", Code: "rate_limit"}))
		return
	case FaultUnavailable:
		write(w, refusal(&apiError{status: http.StatusServiceUnavailable, Kind: "api_error"}))
		return
	case FaultBadRequest:
		write(w, refusal(invalid("", "The request is refused.")))
		return
	case FaultDuplicateRequest:
		f.perform(c, Fault{})
	}
	a := f.perform(c, fault)
	if fault.Kind == FaultLostAfterEffect {
		drop()
	}
	write(w, a)
}

// perform answers a request to the fake of Stripe under its Idempotency-Key.
func (f *Fake) perform(c call, fault Fault) (a answer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer func() { c.Status = a.status }()
	f.tick()
	if first, taken := f.begin(c); taken {
		return first
	}
	if fault.Kind == FaultDelayedResponse {
		f.mu.Unlock()
		f.wait(fault.Delay)
		f.mu.Lock()
		f.tick()
	}
	var result any
	var err *apiError
	if fault.Kind != FaultErrorWithoutEffect {
		result, err = c.run(c)
	}
	if fault.Kind == FaultErrorWithoutEffect || fault.Kind == FaultErrorAfterEffect {
		err = &apiError{status: http.StatusInternalServerError, Kind: "api_error", Message: "An unknown error occurred"}
	}
	if item, ok := result.(object); ok {
		result = item.json(f, expansionsOf(c.Params))
	}
	if a = answered(http.StatusOK, result); err != nil {
		a = refusal(err)
	}
	if first := f.keys[c.Key]; first != nil && err.keeps() {
		first.flying, first.answer = false, a
	} else {
		delete(f.keys, c.Key)
	}
	return a
}

type answer struct {
	status   int
	body     []byte
	request  string // The answer's Request-Id header.
	replayed bool
}

func answered(status int, value any) answer {
	return answer{status: status, body: encoded(value), request: "req_" + rand.Text()}
}

func refusal(err *apiError) answer { return answered(err.status, map[string]any{"error": err}) }

func write(w http.ResponseWriter, a answer) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Request-Id", a.request)
	if a.replayed {
		w.Header().Set("Idempotent-Replayed", "true")
	}
	w.WriteHeader(a.status)
	// A failed write only means that the caller has closed the connection.
	_, _ = w.Write(a.body)
}

func encoded(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		// The value consists of maps of plain values, so it can be encoded.
		panic(err)
	}
	return text
}

// endpoint serves a route of Stripe's API, and returns an object or another value for JSON. It runs under the
// fake's lock.
type endpoint func(c call) (any, *apiError)

// endpoints returns the fake's routes of Stripe's API, by method and path.
func (f *Fake) endpoints() map[string]endpoint {
	return map[string]endpoint{
		"POST /v1/checkout/sessions":             f.createSession,
		"GET /v1/checkout/sessions":              list(f, &f.sessions, nil),
		"GET /v1/checkout/sessions/{id}":         on(&f.sessions, retrieve),
		"POST /v1/checkout/sessions/{id}/expire": on(&f.sessions, f.expireSession),
		"POST /v1/payment_intents":               f.createIntent,
		"GET /v1/payment_intents":                list(f, &f.intents, nil),
		"GET /v1/payment_intents/{id}":           on(&f.intents, retrieve),
		"POST /v1/payment_intents/{id}/confirm":  on(&f.intents, f.confirmIntent),
		"POST /v1/payment_intents/{id}/cancel":   on(&f.intents, f.cancelIntent),
		"GET /v1/charges":                        list(f, &f.charges, nil),
		"GET /v1/charges/{id}":                   on(&f.charges, retrieve),
		"POST /v1/refunds":                       f.createRefund,
		"GET /v1/refunds":                        list(f, &f.refunds, func(r *refund) *intent { return r.charge.intent }),
		"GET /v1/refunds/{id}":                   on(&f.refunds, retrieve),
		"GET /v1/disputes":                       list(f, &f.disputes, func(d *dispute) *intent { return d.charge.intent }),
		"DELETE /v1/customers/{id}":              on(&f.customers, f.deleteCustomer),
	}
}

// on returns an endpoint that calls act with the object whose id is in the path.
func on[T object](all *table[T], act func(T, call) (any, *apiError)) endpoint {
	return func(c call) (any, *apiError) {
		item, err := all.find(c.id)
		if err != nil {
			return nil, err
		}
		return act(item, c)
	}
}

func retrieve[T object](item T, _ call) (any, *apiError) { return item, nil }
