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

// PaymentMetadataKey and depositKey are metadata keys of the service's adapter, by which the fake finds an
// object's payment and deposit.
const (
	PaymentMetadataKey = "payment_id"
	depositKey         = "deposit_id"
)

// SecretKey and WebhookSecret are the service's credentials in `make run`. The fake of Stripe accepts every secret
// key.
const (
	SecretKey     = "sk_test_fake"
	WebhookSecret = "whsec_fake"
)

// maxRequests bounds the requests that the fake keeps for tests.
const maxRequests = 50_000

// Options of a fake of Stripe. The zero value is right for tests.
type Options struct {
	// Now is the clock that AdvanceClock moves ahead; nil: the system's.
	Now func() time.Time
	// Webhooks is the URL for webhook events; "": none are posted.
	Webhooks string
	// Secret signs webhook events; "": WebhookSecret.
	Secret string
}

// Fake is a fake of Stripe: API, hosted payment pages and webhooks. It is safe for concurrent use.
type Fake struct {
	options Options
	// The HTTP client for webhook events, which follows no redirect.
	client  *http.Client
	closing chan struct{}
	closed  sync.Once
	sending sync.WaitGroup
	wake    chan struct{}
	late    atomic.Int64

	mu sync.Mutex
	// The fake's origin, with which the URLs of hosted pages begin.
	url    string
	ahead  time.Duration
	serial int
	keys   map[string]*stored
	faults []Fault
	choose func(method, path string) *Fault
	// The bank's next answers to charges without the tenant, by deposit id.
	outcomes map[string][]ChargeOutcome
	refusing []string // Statuses of the next refunds, in order.

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

// payment holds the objects in the fake of one payment of the service.
type payment struct {
	sessions []*session
	intents  []*intent
}

type Request struct {
	Method, Path, Key, Version string
	Params                     url.Values
	// The answer's status code; 0 until there is one.
	Status int
}

// New returns a fake of Stripe, which Close must end.
func New(o Options) *Fake {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Secret == "" {
		o.Secret = WebhookSecret
	}
	// The end of any httptest.Server closes connections of the default transport, even those that a request is about
	// to use.
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

// Handler serves the fake's API and its hosted pages.
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

// URL returns the fake's origin, for the setting STRIPE_API_BASE.
func (f *Fake) URL() string { return locked(f, func() string { return f.url }) }

func (f *Fake) Now() time.Time { return locked(f, f.now) }

func (f *Fake) now() time.Time { return f.options.Now().Add(f.ahead) }

// AdvanceClock moves the fake's clock ahead: sessions expire, idempotency keys are deleted, charges are disputed.
func (f *Fake) AdvanceClock(d time.Duration) {
	f.change(func() {
		f.ahead += d
		f.tick()
	})
}

// locked returns the result of do, which runs under the fake's lock.
func locked[T any](f *Fake, do func() T) T {
	f.mu.Lock()
	defer f.mu.Unlock()
	return do()
}

// change runs do under the fake's lock.
func (f *Fake) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
}

// tick does what is due by the fake's clock: it expires sessions, opens disputes and deletes idempotency keys.
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

// Violations returns the steps after which a payment had two payable objects or two charges: none for a correct
// adapter.
func (f *Fake) Violations() []string {
	return locked(f, func() []string { return slices.Clone(f.violations) })
}

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

// newID returns an object id with a prefix such as "pi". The fake's state must be locked.
func (f *Fake) newID(prefix string) string {
	f.serial++
	return fmt.Sprintf("%s_fake%08d", prefix, f.serial)
}

// paymentOf returns the payment in an object's metadata. An object without one is a violation.
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

func (f *Fake) intentsOf(paymentID string) []*intent {
	if p := f.payments[paymentID]; p != nil {
		return p.intents
	}
	return nil
}

// watch records a violation if a payment has more than one payable object or charge after a step.
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
