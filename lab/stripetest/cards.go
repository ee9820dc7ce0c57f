package stripetest

import (
	"strings"
	"time"
)

// card is the behaviour of a test card that Stripe publishes (docs.stripe.com/testing).
type card struct {
	// true: the bank wants the tenant to authenticate on the payment page; false: it does not.
	asks bool
	// The code with which the bank refuses the card on the page; "": the bank accepts it.
	decline string
	// The code with which the bank refuses a charge without the tenant, though the page accepted the card; "": the
	// bank accepts it.
	later string
	// true: the tenant disputes the charge a minute later; false: never.
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

// disputeAfter is the time after which a charge of the test card for disputes is disputed.
const disputeAfter = time.Minute

// cardOf returns the behaviour of the card that a tenant entered; the card's data is not kept. The second result
// is false if the card is unknown or its data incomplete.
func cardOf(number, expiry, cvc string) (card, bool) {
	found, ok := cards[strings.ReplaceAll(number, " ", "")]
	return found, ok && strings.TrimSpace(expiry) != "" && len(strings.TrimSpace(cvc)) >= 3
}

// ChargeOutcome is the bank's answer to a charge without the tenant. The zero value is a success.
type ChargeOutcome struct {
	// Error code of the bank's answer; "" with a DeclineCode means card_declined.
	Code        string
	DeclineCode string // Decline code of the bank's answer, such as insufficient_funds.
	AdviceCode  string // Advice code of the bank's answer, such as do_not_try_again.
	Processing  bool   // true: the bank answers later, when a test calls SettleCharge; false: at once.
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

// SetOffSessionOutcomes sets how the bank answers the next charges of a deposit without the tenant, in their order.
// Afterwards the card behaves as Stripe publishes. depositID is the id in the object's metadata.
func (f *Fake) SetOffSessionOutcomes(depositID string, outcomes ...ChargeOutcome) {
	f.change(func() { f.outcomes[depositID] = append(f.outcomes[depositID], outcomes...) })
}

// offSession returns the bank's answer to a charge without the tenant: the next that a test has set, or that of
// the test card.
func (f *Fake) offSession(i *intent, m *method) ChargeOutcome {
	if told := f.outcomes[i.metadata[depositKey]]; len(told) > 0 {
		f.outcomes[i.metadata[depositKey]] = told[1:]
		return told[0]
	}
	return ChargeOutcome{DeclineCode: m.card.later}
}
