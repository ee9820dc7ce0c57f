package stripetest

import (
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
)

//go:embed page.html
var pageText string

var pages = template.Must(template.New("page").Parse(pageText))

// pageView is the content of the hosted payment page, without what the tenant has entered.
type pageView struct {
	Amount, Name, Error, Back string
	// The payment page's step: pay, challenge or over.
	Step string
	// The URL of the card form, which is not the page's own after a failed authentication.
	Action string
}

func pathOf(s *session) string { return "/pay/" + s.id }

// onPage returns a handler that calls serve with the Checkout Session of a hosted page, under the fake's lock.
func (f *Fake) onPage(serve func(s *session, w http.ResponseWriter, r *http.Request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.tick()
		s, err := f.sessions.find(r.PathValue("session"))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		serve(s, w, r)
	}
}

// showPage shows the card form, or that the hosted page has expired, or redirects a tenant who has paid.
func (f *Fake) showPage(s *session, w http.ResponseWriter, r *http.Request) {
	switch s.status {
	case "complete":
		http.Redirect(w, r, s.asked.Get("success_url"), http.StatusSeeOther)
	case "expired":
		render(w, http.StatusOK, pageView{Step: "over", Back: s.asked.Get("cancel_url")})
	default:
		render(w, http.StatusOK, f.viewOf(s))
	}
}

func (f *Fake) viewOf(s *session) pageView {
	return pageView{
		Step: "pay", Action: pathOf(s), Back: s.asked.Get("cancel_url"), Error: reasons[s.refused],
		Name:   s.asked.Get("line_items[0][price_data][product_data][name]"),
		Amount: fmt.Sprintf("€%d.%02d", s.amount/100, s.amount%100), //nolint:mnd // euros and cents
	}
}

// reasons maps the code of a bank's refusal to its text on the payment page.
var reasons = map[string]string{
	"insufficient_funds": "Your card has insufficient funds. Try a different card.",
	"generic_decline":    "Your card was declined. Try a different card.",
	"incomplete":         "Your card number is incomplete, or this is not a test card.",
	authenticationFailed: "We are unable to authenticate your payment method. Choose a different payment method and try again.",
}

const authenticationFailed = "payment_intent_authentication_failure"

// takeCard charges the entered card. A refused card leaves the hosted page open.
func (f *Fake) takeCard(s *session, w http.ResponseWriter, r *http.Request) {
	if s.status != "open" {
		http.Redirect(w, r, pathOf(s), http.StatusSeeOther)
		return
	}
	with, ok := cardOf(r.PostFormValue("cardNumber"), r.PostFormValue("cardExpiry"), r.PostFormValue("cardCvc"))
	if !ok {
		s.refused = "incomplete"
		render(w, http.StatusPaymentRequired, f.viewOf(s))
		return
	}
	s.refused = ""
	f.answerPage(w, r, s, f.pay(s, with, false))
}

// answerPage redirects to or shows the page that follows a card or an authentication.
func (f *Fake) answerPage(w http.ResponseWriter, r *http.Request, s *session, challenge bool) {
	switch {
	case challenge:
		http.Redirect(w, r, pathOf(s)+"/authenticate", http.StatusSeeOther)
	case s.status == "complete":
		http.Redirect(w, r, s.asked.Get("success_url"), http.StatusSeeOther)
	default:
		render(w, http.StatusPaymentRequired, f.viewOf(s))
	}
}

// challenge serves the page of the bank's authentication. A POST has the field outcome: complete or fail.
func (f *Fake) challenge(s *session, w http.ResponseWriter, r *http.Request) {
	switch {
	case s.status != "open" || s.challenge == nil:
		http.Redirect(w, r, pathOf(s), http.StatusSeeOther)
	case r.Method == http.MethodGet:
		render(w, http.StatusOK, pageView{Step: "challenge"})
	case r.PostFormValue("outcome") == "complete":
		f.answerPage(w, r, s, f.pay(s, *s.challenge, true))
	default:
		m := &method{base: f.base("pm"), card: *s.challenge, email: s.email}
		f.methods.add(m)
		s.challenge, s.refused = nil, authenticationFailed
		f.refuse(s.intent, m, ChargeOutcome{Code: s.refused})
		f.answerPage(w, r, s, false)
	}
}

func render(w http.ResponseWriter, status int, v pageView) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if pages.Execute(w, v) != nil {
		// An error only means that the tenant has closed the connection.
		drop()
	}
}
