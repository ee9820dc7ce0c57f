package stripetest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"partnerdeposits/lab/backing"
)

// Start runs a fake of Stripe until the test ends. The test fails if the service's adapter has broken one of the
// fake's rules.
func Start(t backing.TB, o Options) *Fake {
	t.Helper()
	f := StartBroken(t, o)
	t.Cleanup(func() {
		if found := f.Violations(); len(found) > 0 {
			t.Errorf("the fake of Stripe saw %d violations:\n%s", len(found), strings.Join(found, "\n"))
		}
	})
	return f
}

// StartBroken runs a fake of Stripe until the test ends, for a test that expects violations of the fake's rules.
func StartBroken(t backing.TB, o Options) *Fake {
	t.Helper()
	f := New(o)
	server := httptest.NewServer(f.Handler())
	f.SetURL(server.URL)
	t.Cleanup(func() {
		f.Close() // Close ends requests to the fake that hang.
		server.CloseClientConnections()
		server.Close()
	})
	return f
}

// PageAnswer is an HTTP response of the fake's hosted payment page.
type PageAnswer struct {
	Status   int
	Location string
	Body     string
}

// Pay enters a card on a hosted payment page, and completes the authentication if the bank wants one. It returns
// the last response.
func (f *Fake) Pay(t backing.TB, page, number string) PageAnswer {
	t.Helper()
	a := f.Post(t, page, url.Values{"cardNumber": {number}, "cardExpiry": {"12/34"}, "cardCvc": {"123"}})
	if strings.HasSuffix(a.Location, "/authenticate") {
		return f.Post(t, f.URL()+a.Location, url.Values{"outcome": {"complete"}})
	}
	return a
}

// Post sends a form to the fake's hosted pages and returns the response, without following a redirect.
func (f *Fake) Post(t backing.TB, target string, form url.Values) PageAnswer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, target, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatalf("%v", err)
		return PageAnswer{}
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := f.client.Do(r)
	if err != nil {
		t.Fatalf("%v", err)
		return PageAnswer{}
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return PageAnswer{Status: res.StatusCode, Location: res.Header.Get("Location"), Body: string(body)}
}

// PageOf returns the URL of a payment's newest hosted page, even if the page has expired; "" if there is none.
func (f *Fake) PageOf(paymentID string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.payments[paymentID]
	if p == nil || len(p.sessions) == 0 {
		return ""
	}
	return f.url + pathOf(p.sessions[len(p.sessions)-1])
}

// Mend makes the cards that a payment has saved good for later charges.
func (f *Fake) Mend(paymentID string) {
	f.change(func() {
		for _, i := range f.intentsOf(paymentID) {
			if i.method != nil {
				i.method.card.later = ""
			}
		}
	})
}

// Book holds the successful charges of a payment: their number, the cents that they took, and the cents that are
// left after refunds.
type Book struct{ Charges, Taken, Kept int }

// Books returns, by payment id, the Book of every payment that has a successful charge.
func (f *Fake) Books() map[string]Book {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := map[string]Book{}
	for _, c := range f.charges.all {
		if c.succeeded() {
			b := all[c.intent.metadata[PaymentKey]]
			all[c.intent.metadata[PaymentKey]] = Book{b.Charges + 1, b.Taken + c.amount, b.Kept + c.amount - c.refunded}
		}
	}
	return all
}
