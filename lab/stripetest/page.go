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

// pageView is the content of the hosted page. The tenant's input is never shown again.
type pageView struct {
	Amount, Name, Error, Back string
	Step                      string // pay, challenge or over
	Action                    string // of the form of a card: a failed authentication shows the form elsewhere
}

// pathOf is the path of the hosted page.
func pathOf(s *session) string { return "/pay/" + s.id }

// onPage finds the page of a request. The state is locked.
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

// showPage shows the form, the end of the page, or leads a tenant who has paid back.
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

// reasons are the words of refusals on the page.
var reasons = map[string]string{
	"insufficient_funds": "Your card has insufficient funds. Try a different card.",
	"generic_decline":    "Your card was declined. Try a different card.",
	"incomplete":         "Your card number is incomplete, or this is not a test card.",
	authenticationFailed: "We are unable to authenticate your payment method. Choose a different payment method and try again.",
}

const authenticationFailed = "payment_intent_authentication_failure"

// takeCard pays with the card that the tenant typed. A refused card leaves the page open.
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

// answerPage shows the next page after a card or an authentication.
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

// challenge plays the page of the tenant's bank. A POST has the field outcome: complete or fail.
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
		f.refuse(s.intent, m, Outcome{Code: s.refused})
		f.answerPage(w, r, s, false)
	}
}

func render(w http.ResponseWriter, status int, v pageView) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if pages.Execute(w, v) != nil {
		drop() // the tenant is gone
	}
}
