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
	params            url.Values
	index             int // in the list of requests
}

// serveAPI answers a request to /v1, after the fault that it meets.
func (f *Fake) serveAPI(w http.ResponseWriter, r *http.Request) {
	c, err := f.read(r)
	if err != nil {
		f.write(w, f.failed(err))
		return
	}
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
		f.write(w, f.failed(&apiError{status: http.StatusTooManyRequests, kind: "invalid_request_error", code: "rate_limit", message: "Too many requests"}))
		return
	case Unready:
		f.write(w, f.failed(&apiError{status: http.StatusServiceUnavailable, kind: "api_error", message: "Try again"}))
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
		return call{}, &apiError{status: http.StatusUnauthorized, kind: "invalid_request_error", message: "You did not provide an API key."}
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
	c := call{method: r.Method, path: r.URL.Path, params: params}
	if r.Method == http.MethodPost {
		c.key = r.Header.Get("Idempotency-Key")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.requests) < maxRequests {
		c.index = len(f.requests)
		f.requests = append(f.requests, Request{Method: c.method, Path: c.path, Key: c.key, Version: r.Header.Get("Stripe-Version"), Params: params})
	} else {
		c.index = -1
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
	if fault.Kind == Broken {
		err = broken()
	} else if result, err = f.route(c); fault.Kind == BrokenDone {
		err = broken()
	}
	a := f.failedLocked(err)
	if err == nil {
		a = answer{status: http.StatusOK, body: encoded(result), request: f.newID("req")}
	}
	f.finish(c.key, a, err.keeps())
	return f.note(c, a)
}

func (f *Fake) note(c call, a answer) answer {
	if c.index >= 0 && c.index < len(f.requests) {
		f.requests[c.index].Status = a.status
	}
	return a
}

func (f *Fake) failed(err *apiError) answer {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failedLocked(err)
}

func (f *Fake) failedLocked(err *apiError) answer {
	if err == nil {
		return answer{}
	}
	return answer{status: err.status, body: encoded(err.body()), request: f.newID("req")}
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

// route runs a request. The state is locked.
func (f *Fake) route(c call) (any, *apiError) {
	parts := strings.Split(strings.TrimPrefix(c.path, "/v1/"), "/")
	if parts[0] == "checkout" && len(parts) > 1 {
		parts = append([]string{"checkout/sessions"}, parts[2:]...)
	}
	id, act := "", ""
	if len(parts) > 1 {
		id = parts[1]
	}
	if len(parts) > 2 {
		act = parts[2]
	}
	endpoint := c.method + " " + parts[0]
	if id != "" {
		endpoint += "/id"
	}
	if act != "" {
		endpoint += "/" + act
	}
	if run := routes[endpoint]; run != nil {
		return run(f, id, c)
	}
	return nil, &apiError{status: http.StatusNotFound, kind: "invalid_request_error", message: "Unrecognized request URL (" + c.method + ": " + c.path + ")."}
}

type endpoint func(f *Fake, id string, c call) (any, *apiError)

var routes = map[string]endpoint{
	"POST checkout/sessions":           (*Fake).createSession,
	"GET checkout/sessions":            listOf(func(f *Fake) *table[*session] { return &f.sessions }, sessionOf),
	"GET checkout/sessions/id":         retrieve(func(f *Fake) *table[*session] { return &f.sessions }),
	"POST checkout/sessions/id/expire": (*Fake).expireSession,
	"POST payment_intents":             (*Fake).createIntent,
	"GET payment_intents":              listOf(func(f *Fake) *table[*intent] { return &f.intents }, nil),
	"GET payment_intents/id":           retrieve(func(f *Fake) *table[*intent] { return &f.intents }),
	"POST payment_intents/id/confirm":  (*Fake).confirmIntent,
	"POST payment_intents/id/cancel":   (*Fake).cancelIntent,
	"GET charges":                      listOf(func(f *Fake) *table[*charge] { return &f.charges }, chargeOf),
	"GET charges/id":                   retrieve(func(f *Fake) *table[*charge] { return &f.charges }),
	"POST refunds":                     (*Fake).createRefund,
	"GET refunds":                      listOf(func(f *Fake) *table[*refund] { return &f.refunds }, refundOf),
	"GET refunds/id":                   retrieve(func(f *Fake) *table[*refund] { return &f.refunds }),
	"GET disputes":                     listOf(func(f *Fake) *table[*dispute] { return &f.disputes }, disputeOf),
	"GET disputes/id":                  retrieve(func(f *Fake) *table[*dispute] { return &f.disputes }),
	"POST customers":                   (*Fake).createCustomer,
	"GET customers/id":                 retrieve(func(f *Fake) *table[*customer] { return &f.customers }),
	"DELETE customers/id":              (*Fake).deleteCustomer,
	"GET customers/id/payment_methods": (*Fake).listMethods,
	"GET payment_methods/id":           retrieve(func(f *Fake) *table[*method] { return &f.methods }),
	"POST payment_methods/id/detach":   (*Fake).detachMethod,
	"GET balance": func(*Fake, string, call) (any, *apiError) {
		return map[string]any{"object": "balance", "livemode": false}, nil
	},
}

// retrieve answers GET of an object.
func retrieve[T object](of func(*Fake) *table[T]) endpoint {
	return func(f *Fake, id string, c call) (any, *apiError) {
		item, err := of(f).find(id)
		if err != nil {
			return nil, err
		}
		return item.json(f, expansionsOf(c.params)), nil
	}
}

// listOf answers GET of a list. related tells whether an object belongs to the payment intent of the query.
func listOf[T object](of func(*Fake) *table[T], related func(item T, intent string) bool) endpoint {
	return func(f *Fake, _ string, c call) (any, *apiError) {
		asked := c.params.Get("payment_intent")
		if asked != "" && related == nil {
			return nil, invalid("payment_intent", "Received unknown parameter: payment_intent")
		}
		return list(f, of(f), c.path, c.params, func(item T) bool { return asked == "" || related(item, asked) })
	}
}
