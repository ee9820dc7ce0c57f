// Package actor names who acted, in the histories of deposits and collections, for refunds, and in the audit log.
package actor

import (
	"strings"

	"partnerdeposits/core/id"
)

// Kind is the kind of an actor, such as partner or tenant. The text of an actor begins with its kind.
type Kind string

// The kinds of actors who can change deposits and other records.
const (
	KindPartner  Kind = "partner"
	KindOperator Kind = "operator"
	KindTenant   Kind = "tenant"
	KindStaff    Kind = "admin" // An actor of this kind is a member of staff, who acts with the admin command.
	// An actor of this kind is the clock: no person acted; a job of the dispatcher found something due.
	KindClock    Kind = "scheduler"
	KindProvider Kind = "provider" // An actor of this kind is the payment provider.
)

// Actor names who acted: a kind, and an id for partners and operators. The zero Actor stands for nobody.
type Actor struct {
	Kind Kind
	ID   string // The external form of a partner's or an operator's id; "" for every other actor.
	Key  id.ID  // The API key that a partner used; zero: none, or not known. The actor's text omits the key.
}

// The actors for which the kind is enough, without an id: tenant, staff, clock, payment provider.
var (
	Tenant   = Actor{Kind: KindTenant}
	Staff    = Actor{Kind: KindStaff}
	Clock    = Actor{Kind: KindClock}
	Provider = Actor{Kind: KindProvider}
)

// LegacyClockName is the text by which earlier versions named the clock in audit entries, steps of collections and
// refunds.
const LegacyClockName = "dispatcher"

// Partner returns the actor for a partner and the API key that it used; a zero keyID: the key is not known or
// there was none.
func Partner(partnerID, keyID id.ID) Actor {
	return Actor{Kind: KindPartner, ID: id.Partner.Of(partnerID), Key: keyID}
}

// Operator returns the actor for an operator.
func Operator(operatorID id.ID) Actor {
	return Actor{Kind: KindOperator, ID: id.Operator.Of(operatorID)}
}

// String returns the text of the actor, as stored and shown: the kind, or kind and id ("partner:prt_…"). The text
// of nobody is "".
func (a Actor) String() string {
	if a.ID == "" {
		return string(a.Kind)
	}
	return string(a.Kind) + ":" + a.ID
}

// Parse returns the actor that a text names; LegacyClockName names the clock. A text of unknown form, which a later
// version may have written, is split into kind and id, and String returns it unchanged.
func Parse(text string) Actor {
	if text == LegacyClockName {
		return Clock
	}
	kind, name, _ := strings.Cut(text, ":")
	return Actor{Kind: Kind(kind), ID: name}
}

// StoredTexts returns every text under which stored rows may name the actor: its present text, and the text of earlier
// versions.
func (a Actor) StoredTexts() []string {
	if a == Clock {
		return []string{a.String(), LegacyClockName}
	}
	return []string{a.String()}
}
