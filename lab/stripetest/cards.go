package stripetest

import (
	"strings"
	"time"
)

// card is the behaviour of a test card that Stripe publishes (docs.stripe.com/testing).
type card struct {
	asks     bool   // the issuer wants the tenant to authenticate on the page
	decline  string // the code with which the issuer refuses on the page, "" for none
	later    string // the code with which the issuer refuses a charge without the tenant, though the page took the card
	disputed bool   // the tenant objects to the charge a minute later
}

const authenticationRequired = "authentication_required"

var cards = map[string]card{
	"4242424242424242": {},
	"5555555555554444": {},
	"4000002500003155": {asks: true},
	"4000002760003184": {asks: true, later: authenticationRequired},
	"4000008260003178": {asks: true, decline: "insufficient_funds"},
	"4000000000000341": {later: "generic_decline"},
	"4000000000000259": {disputed: true},
	"4000000000000002": {decline: "generic_decline"},
	"4000000000009995": {decline: "insufficient_funds"},
}

// disputeAfter is the time until a charge of the disputed card is disputed.
const disputeAfter = time.Minute

// cardOf reads what a tenant typed. Only the behaviour is kept.
func cardOf(number, expiry, cvc string) (card, bool) {
	found, ok := cards[strings.ReplaceAll(number, " ", "")]
	return found, ok && strings.TrimSpace(expiry) != "" && len(strings.TrimSpace(cvc)) >= 3
}

// Outcome is the issuer's answer to a charge without the tenant. The zero value is a success.
type Outcome struct {
	Code        string // of the error; "" with a DeclineCode: card_declined
	DeclineCode string // such as insufficient_funds
	AdviceCode  string // such as do_not_try_again
	Processing  bool   // the answer comes later, by Settle
}

func (o Outcome) declined() bool { return o.DeclineCode != "" || o.Code != "" }

func (o Outcome) code() string {
	switch {
	case o.Code != "":
		return o.Code
	case o.DeclineCode == authenticationRequired:
		return authenticationRequired
	}
	return "card_declined"
}

// OffSession tells how the issuer answers the next charges of a deposit without the tenant, in their order. Afterwards
// the card behaves as published. depositID is the text in the metadata.
func (f *Fake) OffSession(depositID string, outcomes ...Outcome) {
	f.change(func() { f.outcomes[depositID] = append(f.outcomes[depositID], outcomes...) })
}

// offSession gives the issuer's answer to a charge without the tenant.
func (f *Fake) offSession(i *intent, m *method) Outcome {
	if told := f.outcomes[i.metadata[depositKey]]; len(told) > 0 {
		f.outcomes[i.metadata[depositKey]] = told[1:]
		return told[0]
	}
	return Outcome{DeclineCode: m.card.later}
}
