package stripetest

import (
	"strings"
	"time"
)

// card is the published behaviour of a test card (docs.stripe.com/testing).
type card struct {
	// Whether the bank wants the tenant to authenticate on the payment page.
	asks bool
	// Code of the bank's refusal of the card on the page; "": accepted.
	decline string
	// Code of the bank's refusal of a later charge without the tenant; "": accepted.
	later string
	// Whether the tenant disputes the charge a minute later.
	disputed bool
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

const disputeAfter = time.Minute

// cardOf returns the behaviour of an entered card, whose data is not kept; false: an unknown card or incomplete
// data.
func cardOf(number, expiry, cvc string) (card, bool) {
	found, ok := cards[strings.ReplaceAll(number, " ", "")]
	return found, ok && strings.TrimSpace(expiry) != "" && len(strings.TrimSpace(cvc)) >= 3
}

// ChargeOutcome is the bank's answer to a charge without the tenant; the zero value is a success.
type ChargeOutcome struct {
	// The bank's error code; "" with a DeclineCode means card_declined.
	Code        string
	DeclineCode string // The bank's decline code, such as insufficient_funds.
	AdviceCode  string // The bank's advice code, such as do_not_try_again.
	Processing  bool   // Whether the bank answers only when a test calls SettleCharge.
}

func (o ChargeOutcome) declined() bool { return o.DeclineCode != "" || o.Code != "" }

func (o ChargeOutcome) code() string {
	switch {
	case o.Code != "":
		return o.Code
	case o.DeclineCode == authenticationRequired:
		return authenticationRequired
	}
	return "card_declined"
}

// SetOffSessionOutcomes sets the bank's answers to the next charges of a deposit without the tenant. Afterwards
// the card behaves as Stripe publishes. depositID is in the object's metadata.
func (f *Fake) SetOffSessionOutcomes(depositID string, outcomes ...ChargeOutcome) {
	f.change(func() { f.outcomes[depositID] = append(f.outcomes[depositID], outcomes...) })
}

// offSession returns the bank's answer to a charge without the tenant: the next of a test, or that of the test
// card.
func (f *Fake) offSession(i *intent, m *method) ChargeOutcome {
	if told := f.outcomes[i.metadata[depositKey]]; len(told) > 0 {
		f.outcomes[i.metadata[depositKey]] = told[1:]
		return told[0]
	}
	return ChargeOutcome{DeclineCode: m.card.later}
}
