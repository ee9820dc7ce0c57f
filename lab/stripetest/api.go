package stripetest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
)

const maxBody = 1 << 20

// call is a request to the API.
type call struct {
	method, path, key string
	id                string // of the object that the path names
	params            url.Values
	log               *Request // nil: the list of requests is full
	run               endpoint
}

// serveAPI answers a request, after the fault that the request meets.
func (f *Fake) serveAPI(w http.ResponseWriter, r *http.Request, run endpoint) {
	c, err := f.read(r)
	if err != nil {
		f.write(w, f.failed(err))
		return
	}
	c.run = run
	fault := f.takeFault(r)
	switch fault.Kind {
	case LostBefore:
		drop()
	case Hang:
		select {
		case <-r.Context().Done():
		case <-f.closing:
		}
		drop()
	case TakesLate:
		f.late.Add(1)
		f.sending.Go(func() {
			defer f.late.Add(-1)
			if f.wait(fault.Delay) {
				f.perform(c, Fault{})
			}
		})
		drop()
	case Overloaded:
		f.write(w, f.failed(&apiError{status: http.StatusTooManyRequests, Kind: "invalid_request_error", Code: "rate_limit",
			Message: "Too many requests"}))
		return
	case Unready:
		f.write(w, f.failed(&apiError{status: http.StatusServiceUnavailable, Kind: "api_error", Message: "Try again"}))
		return
	case Refused:
		f.write(w, f.failed(invalid("", "The request is refused.")))
		return
	case Doubled:
		f.perform(c, Fault{})
	}
	a := f.perform(c, fault)
	if fault.Kind == LostAfter {
		drop()
	}
	f.write(w, a)
}

// read reads a request and writes it down.
func (f *Fake) read(r *http.Request) (call, *apiError) {
	secret, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || secret == "" {
		return call{},
			&apiError{status: http.StatusUnauthorized, Kind: "invalid_request_error", Message: "You did not provide an API key."}
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		drop()
	}
	text := r.URL.RawQuery
	if r.Method == http.MethodPost {
		text = string(body)
	}
	params, err := url.ParseQuery(text)
	if err != nil {
		return call{}, invalid("", "The body is no form.")
	}
	c := call{method: r.Method, path: r.URL.Path, id: r.PathValue("id"), params: params}
	if r.Method == http.MethodPost {
		c.key = r.Header.Get("Idempotency-Key")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.requests) < maxRequests {
		c.log = &Request{Method: c.method, Path: c.path, Key: c.key, Version: r.Header.Get("Stripe-Version"), Params: params}
		f.requests = append(f.requests, c.log)
	}
	return c, nil
}

// perform runs a request under its key.
func (f *Fake) perform(c call, fault Fault) answer {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tick()
	again, taken := f.begin(c.key, c.method+" "+c.path, c.params)
	switch {
	case taken != nil:
		return f.note(c, f.failedLocked(taken))
	case again != nil:
		return f.note(c, *again)
	}
	if fault.Kind == Delayed {
		f.mu.Unlock()
		f.wait(fault.Delay)
		f.mu.Lock()
		f.tick()
	}
	var result any
	var err *apiError
	if fault.Kind != Broken {
		result, err = c.run(c)
	}
	if fault.Kind == Broken || fault.Kind == BrokenDone {
		err = &apiError{status: http.StatusInternalServerError, Kind: "api_error", Message: "An unknown error occurred"}
	}
	a := f.failedLocked(err)
	if err == nil {
		if item, ok := result.(object); ok {
			result = item.json(f, expansionsOf(c.params))
		}
		a = answer{status: http.StatusOK, body: encoded(result), request: f.newID("req")}
	}
	f.finish(c.key, a, err.keeps())
	return f.note(c, a)
}

func (f *Fake) note(c call, a answer) answer {
	if c.log != nil {
		c.log.Status = a.status
	}
	return a
}

func (f *Fake) failed(err *apiError) answer {
	return locked(f, func() answer { return f.failedLocked(err) })
}

func (f *Fake) failedLocked(err *apiError) answer {
	if err == nil {
		return answer{}
	}
	return answer{status: err.status, body: encoded(map[string]any{"error": err}), request: f.newID("req")}
}

func (f *Fake) write(w http.ResponseWriter, a answer) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Request-Id", a.request)
	if a.replayed {
		w.Header().Set("Idempotent-Replayed", "true")
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // the caller is gone
}

func encoded(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // maps of plain values
	}
	return text
}

// endpoint gives an object, or any other value that can be shown as JSON. The state is locked.
type endpoint func(c call) (any, *apiError)

// endpoints are the routes of the API.
func (f *Fake) endpoints() map[string]endpoint {
	return map[string]endpoint{
		"POST /v1/checkout/sessions":             f.createSession,
		"GET /v1/checkout/sessions/{id}":         on(&f.sessions, retrieve),
		"POST /v1/checkout/sessions/{id}/expire": on(&f.sessions, f.expireSession),
		"POST /v1/payment_intents":               f.createIntent,
		"GET /v1/payment_intents/{id}":           on(&f.intents, retrieve),
		"POST /v1/payment_intents/{id}/confirm":  on(&f.intents, f.confirmIntent),
		"POST /v1/payment_intents/{id}/cancel":   on(&f.intents, f.cancelIntent),
		"GET /v1/charges/{id}":                   on(&f.charges, retrieve),
		"POST /v1/refunds":                       f.createRefund,
		"GET /v1/refunds/{id}":                   on(&f.refunds, retrieve),
		"DELETE /v1/customers/{id}":              on(&f.customers, f.deleteCustomer),

		"GET /v1/checkout/sessions": listOf(f, &f.sessions, func(s *session, id string) bool {
			return s.intent != nil && s.intent.id == id
		}),
		"GET /v1/payment_intents": listOf(f, &f.intents, nil),
		"GET /v1/charges":         listOf(f, &f.charges, func(c *charge, id string) bool { return c.intent.id == id }),
		"GET /v1/refunds":         listOf(f, &f.refunds, func(r *refund, id string) bool { return r.charge.intent.id == id }),
		"GET /v1/disputes": listOf(f, &f.disputes,
			func(d *dispute, id string) bool { return d.charge.intent.id == id }),
		"/v1/": func(c call) (any, *apiError) {
			message := "Unrecognized request URL (" + c.method + ": " + c.path + ")."
			return nil, &apiError{status: http.StatusNotFound, Kind: "invalid_request_error", Message: message}
		},
	}
}

// on finds the object that the path names, and passes it on.
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

// listOf answers GET of a list. related tells whether an object belongs to the payment intent of the query.
func listOf[T object](f *Fake, all *table[T], related func(item T, intent string) bool) endpoint {
	return func(c call) (any, *apiError) {
		asked := c.params.Get("payment_intent")
		if asked != "" && related == nil {
			return nil, invalid("payment_intent", "Received unknown parameter: payment_intent")
		}
		return list(f, all, c, func(item T) bool { return asked == "" || related(item, asked) })
	}
}
