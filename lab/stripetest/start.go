package stripetest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"partnerdeposits/lab/backing"
)

// Start runs a fake of Stripe until the test ends, which fails if the service's adapter has broken a rule.
func Start(t backing.TB, o Options) *Fake {
	t.Helper()
	f := StartExpectingViolations(t, o)
	t.Cleanup(func() {
		if found := f.Violations(); len(found) > 0 {
			t.Errorf("the fake of Stripe saw %d violations:\n%s", len(found), strings.Join(found, "\n"))
		}
	})
	return f
}

// StartExpectingViolations runs a fake of Stripe until the test ends, which expects violations of the fake's
// rules.
func StartExpectingViolations(t backing.TB, o Options) *Fake {
	t.Helper()
	f := New(o)
	server := httptest.NewServer(f.Handler())
	f.SetURL(server.URL)
	t.Cleanup(func() {
		f.Close() // Hanging requests would keep the fake's server from stopping.
		server.CloseClientConnections()
		server.Close()
	})
	return f
}

type PageResponse struct {
	Status   int
	Location string
	Body     string
}

// PayOnPaymentPage enters a card on a hosted payment page, completes an authentication if the bank wants one, and
// returns the last response.
func (f *Fake) PayOnPaymentPage(t backing.TB, page, number string) PageResponse {
	t.Helper()
	a := f.PostForm(t, page, url.Values{"cardNumber": {number}, "cardExpiry": {"12/34"}, "cardCvc": {"123"}})
	if strings.HasSuffix(a.Location, "/authenticate") {
		return f.PostForm(t, f.URL()+a.Location, url.Values{"outcome": {"complete"}})
	}
	return a
}

// PostForm sends a form to the fake's hosted pages, and follows no redirect.
func (f *Fake) PostForm(t backing.TB, target string, form url.Values) PageResponse {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, target, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatalf("%v", err)
		return PageResponse{}
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := f.client.Do(r)
	if err != nil {
		t.Fatalf("%v", err)
		return PageResponse{}
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return PageResponse{Status: res.StatusCode, Location: res.Header.Get("Location"), Body: string(body)}
}

// PaymentPageURL returns the URL of a payment's newest hosted page, even if it has expired; "": none.
func (f *Fake) PaymentPageURL(paymentID string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.payments[paymentID]
	if p == nil || len(p.sessions) == 0 {
		return ""
	}
	return f.url + pathOf(p.sessions[len(p.sessions)-1])
}

// RepairSavedCards makes a payment's saved cards good for later charges.
func (f *Fake) RepairSavedCards(paymentID string) {
	f.change(func() {
		for _, i := range f.intentsOf(paymentID) {
			if i.method != nil {
				i.method.card.later = ""
			}
		}
	})
}

// ChargeTotals are the successful charges of a payment: their number, the cents taken, and the cents left after
// refunds.
type ChargeTotals struct{ Charges, Taken, Kept int }

// ChargeTotalsByPayment returns the totals of every payment with a successful charge.
func (f *Fake) ChargeTotalsByPayment() map[string]ChargeTotals {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := map[string]ChargeTotals{}
	for _, c := range f.charges.all {
		if c.succeeded() {
			b := all[c.intent.metadata[PaymentMetadataKey]]
			all[c.intent.metadata[PaymentMetadataKey]] = ChargeTotals{b.Charges + 1, b.Taken + c.amount,
				b.Kept + c.amount - c.refunded}
		}
	}
	return all
}
