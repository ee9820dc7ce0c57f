// Package stripetest is a fake of Stripe with a state, over HTTP, for tests and for `make run`. It plays what lies
// outside the service: the API under /v1, the hosted page under /pay/, and webhooks. Its rules follow Stripe's
// documentation as of November 2026; nobody has compared them with Stripe itself.
//
//	POST /v1/checkout/sessions ─> session open ──card──> complete (intent succeeded, card kept by the customer)
//	                                  │  └─ refused: stays open
//	                                  └──expire, or expires_at──> expired (intent canceled)
//	POST /v1/payment_intents ──> requires_payment_method ──confirm──> succeeded
//	                                  │          └─ refused: requires_payment_method, without its payment method
//	                                  └──cancel──> canceled
//
// After every step the fake checks two rules of the adapter: a payment has at most one payable object, and at most one
// charge that succeeded. Violations lists the steps that broke them. Card data is dropped once the card's behaviour is
// known.
package stripetest

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// PaymentMetadataKey and depositKey are metadata keys that the service's adapter sets. By them the fake finds the
// payment and the deposit of an object.
const (
	PaymentMetadataKey = "payment_id"
	depositKey         = "deposit_id"
)

// SecretKey and WebhookSecret are the credentials with which the service uses the fake in `make run`. The fake
// accepts every secret key.
const (
	SecretKey     = "sk_test_fake"
	WebhookSecret = "whsec_fake"
)

// maxRequests is the most requests that the fake keeps for tests to read.
const maxRequests = 50_000

// Options are the options of a fake of Stripe. The zero value is right for tests.
type Options struct {
	// Now returns the time of the clock that Advance moves ahead; nil: the system's clock.
	Now func() time.Time
	// Webhooks is the URL to which webhook events are posted; "": none are posted.
	Webhooks string
	// Secret is the secret that signs webhook events; "": WebhookSecret.
	Secret string
}

// Fake is a fake of Stripe: its API, hosted payment pages and webhooks. Several goroutines may call its methods
// at the same time.
type Fake struct {
	options Options
	// The HTTP client that posts webhook events; it follows no redirect.
	client  *http.Client
	closing chan struct{}
	closed  sync.Once
	sending sync.WaitGroup
	wake    chan struct{}
	late    atomic.Int64

	mu sync.Mutex
	// The fake's own origin, with which the URLs of hosted pages begin.
	url    string
	ahead  time.Duration
	serial int
	keys   map[string]*stored
	faults []Fault
	choose func(method, path string) *Fault
	// The bank's next answers to charges without the tenant, by deposit id.
	outcomes map[string][]ChargeOutcome
	refusing []string // The statuses that the next refunds get, in their order.

	sessions  table[*session]
	customers table[*customer]
	methods   table[*method]
	intents   table[*intent]
	charges   table[*charge]
	refunds   table[*refund]
	disputes  table[*dispute]
	payments  map[string]*payment

	events     []Event
	queue      []Event
	plan       DeliveryPlan
	requests   []*Request
	violations []string
}

// payment holds the objects in the fake of Stripe that belong to one payment of the service.
type payment struct {
	sessions []*session
	intents  []*intent
}

// Request is a request to Stripe's API that the fake has received.
type Request struct {
	Method, Path, Key, Version string
	Params                     url.Values
	// The status code of the answer to the request; 0 until there is one.
	Status int
}

// New returns a fake of Stripe. Close must be called in the end.
func New(o Options) *Fake {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Secret == "" {
		o.Secret = WebhookSecret
	}
	// The fake uses a transport of its own: the end of any httptest.Server closes connections of the default
	// transport, even those that a request is about to use.
	own := &http.Transport{DisableKeepAlives: true}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	f := &Fake{
		options: o, client: &http.Client{Timeout: 10 * time.Second, Transport: own, CheckRedirect: stay},
		closing: make(chan struct{}), wake: make(chan struct{}, 1), keys: map[string]*stored{},
		outcomes: map[string][]ChargeOutcome{}, payments: map[string]*payment{},
	}
	if o.Webhooks != "" {
		f.sending.Go(f.sendQueue)
	}
	return f
}

// Close ends requests that hang and the sending of webhook events.
func (f *Fake) Close() {
	f.closed.Do(func() { close(f.closing) })
	f.sending.Wait()
}

// Handler returns the HTTP handler for the fake's API and its hosted pages.
func (f *Fake) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, run := range f.endpoints() {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { f.serveAPI(w, r, run) })
	}
	mux.HandleFunc("GET /pay/{session}", f.onPage(f.showPage))
	mux.HandleFunc("POST /pay/{session}", f.onPage(f.takeCard))
	mux.HandleFunc("/pay/{session}/authenticate", f.onPage(f.challenge))
	return mux
}

// SetURL sets the fake's own origin, once its listener is open.
func (f *Fake) SetURL(origin string) { f.change(func() { f.url = origin }) }

// URL returns the fake's origin, which the setting STRIPE_API_BASE takes.
func (f *Fake) URL() string { return locked(f, func() string { return f.url }) }

// Now returns the time of the fake's clock.
func (f *Fake) Now() time.Time { return locked(f, f.now) }

func (f *Fake) now() time.Time { return f.options.Now().Add(f.ahead) }

// AdvanceClock moves the fake's clock ahead: sessions expire, idempotency keys are deleted, and charges are disputed.
func (f *Fake) AdvanceClock(d time.Duration) {
	f.change(func() {
		f.ahead += d
		f.tick()
	})
}

// locked runs the function do while the fake's state is locked, and returns the result of do.
func locked[T any](f *Fake, do func() T) T {
	f.mu.Lock()
	defer f.mu.Unlock()
	return do()
}

// change runs the function do while the fake's state is locked.
func (f *Fake) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
}

// tick does what is due by the fake's clock: it expires sessions, opens disputes, and deletes old idempotency
// keys.
func (f *Fake) tick() {
	now := f.now()
	for _, s := range f.sessions.all {
		if s.status == "open" && !now.Before(s.expires) {
			f.expire(s)
		}
	}
	for _, c := range f.charges.all {
		if !c.disputeAt.IsZero() && !now.Before(c.disputeAt) {
			c.disputeAt = time.Time{}
			f.openDispute(c, "fraudulent")
		}
	}
	for key, s := range f.keys {
		if !s.flying && now.Sub(s.at) >= keyLife {
			delete(f.keys, key)
		}
	}
}

// Violations returns the steps after which a payment had two payable objects or two charges. It is empty for a
// correct adapter.
func (f *Fake) Violations() []string {
	return locked(f, func() []string { return slices.Clone(f.violations) })
}

// Requests returns the requests that the fake's API has received, oldest first.
func (f *Fake) Requests() (all []Request) {
	f.change(func() {
		for _, r := range f.requests {
			all = append(all, *r)
		}
	})
	return all
}

func (f *Fake) violate(format string, args ...any) {
	f.violations = append(f.violations, fmt.Sprintf(format, args...))
}

// newID returns a new object id with a prefix such as "pi". The fake's state must be locked.
func (f *Fake) newID(prefix string) string {
	f.serial++
	return fmt.Sprintf("%s_fake%08d", prefix, f.serial)
}

// paymentOf returns the payment whose id is in an object's metadata. An object without a payment's id is a
// violation.
func (f *Fake) paymentOf(metadata map[string]string, what string) *payment {
	name := metadata[PaymentMetadataKey]
	if name == "" {
		f.violate("%s names no payment", what)
		return &payment{}
	}
	p := f.payments[name]
	if p == nil {
		p = &payment{}
		f.payments[name] = p
	}
	return p
}

// intentsOf returns the PaymentIntents of a payment; none for an unknown payment.
func (f *Fake) intentsOf(paymentID string) []*intent {
	if p := f.payments[paymentID]; p != nil {
		return p.intents
	}
	return nil
}

// watch checks after a step of the fake that a payment has at most one payable object and at most one charge, and
// records violations.
func (f *Fake) watch(metadata map[string]string, step string) {
	name := metadata[PaymentMetadataKey]
	p := f.payments[name]
	if p == nil {
		return
	}
	var payable []string
	charged := 0
	for _, s := range p.sessions {
		if s.status == "open" {
			payable = append(payable, s.id)
		}
	}
	for _, i := range p.intents {
		if i.session == nil && i.payable() {
			payable = append(payable, i.id)
		}
		for _, c := range i.charges {
			if c.succeeded() {
				charged++
			}
		}
	}
	if len(payable) > 1 {
		f.violate("%s: payment %s has %d payable objects: %v", step, name, len(payable), payable)
	}
	if charged > 0 && len(payable) > 0 {
		f.violate("%s: payment %s is paid, and %v can still be paid", step, name, payable)
	}
	if charged > 1 {
		f.violate("%s: payment %s was charged %d times", step, name, charged)
	}
}
