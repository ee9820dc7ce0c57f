// Package actor names who acted, in histories, refunds and the audit log.
package actor

import (
	"strings"

	"partnerdeposits/core/id"
)

// Kind is the kind of an actor, such as partner or tenant, with which the actor's text begins.
type Kind string

// The kinds of actors who can change deposits and other records.
const (
	KindPartner  Kind = "partner"
	KindOperator Kind = "operator"
	KindTenant   Kind = "tenant"
	KindStaff    Kind = "admin" // Actors of this kind are staff, who use the admin command.
	// The actor of this kind is the clock: a job of the dispatcher found something due.
	KindClock    Kind = "scheduler"
	KindProvider Kind = "provider"
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

// LegacyClockName is the text by which earlier versions named the clock.
const LegacyClockName = "dispatcher"

// Partner returns the actor for a partner and its API key; a zero keyID: the key is not known, or there was none.
func Partner(partnerID, keyID id.ID) Actor {
	return Actor{Kind: KindPartner, ID: id.Partner.Of(partnerID), Key: keyID}
}

// Operator returns the actor for an operator.
func Operator(operatorID id.ID) Actor {
	return Actor{Kind: KindOperator, ID: id.Operator.Of(operatorID)}
}

// String returns the stored text of the actor: the kind, or kind and id ("partner:prt_…"); "" for nobody.
func (a Actor) String() string {
	if a.ID == "" {
		return string(a.Kind)
	}
	return string(a.Kind) + ":" + a.ID
}

// Parse returns the actor that a text names. A text of unknown form, which a later version may have written, is
// kept unchanged.
func Parse(text string) Actor {
	if text == LegacyClockName {
		return Clock
	}
	kind, name, _ := strings.Cut(text, ":")
	return Actor{Kind: Kind(kind), ID: name}
}

// StoredTexts returns the texts under which stored rows may name the actor, those of earlier versions included.
func (a Actor) StoredTexts() []string {
	if a == Clock {
		return []string{a.String(), LegacyClockName}
	}
	return []string{a.String()}
}
