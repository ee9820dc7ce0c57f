// Package actor names who acted: in the histories of deposits and collections, for refunds, and in the audit log.
package actor

import (
	"strings"

	"partnerdeposits/core/id"
)

// Kind is the kind of an actor. The text of an actor begins with its kind.
type Kind string

// The kinds of actors.
const (
	KindPartner  Kind = "partner"
	KindOperator Kind = "operator"
	KindTenant   Kind = "tenant"
	KindStaff    Kind = "admin"     // with the admin command
	KindClock    Kind = "scheduler" // nobody asked: a job of the dispatcher found something due
	KindProvider Kind = "provider"  // of payments
)

// Actor is who acted. The zero Actor is nobody.
type Actor struct {
	Kind Kind
	ID   string // outside id of a partner or an operator; "" for every other actor
	Key  id.ID  // the API key that a partner used; zero: none, or not known. The text of an actor leaves it out.
}

// The actors that need no id.
var (
	Tenant   = Actor{Kind: KindTenant}
	Staff    = Actor{Kind: KindStaff}
	Clock    = Actor{Kind: KindClock}
	Provider = Actor{Kind: KindProvider}
)

// FormerClock is the text of the clock in audit entries, steps of collections and refunds of earlier versions.
const FormerClock = "dispatcher"

// Partner is a partner, with the API key that it used; a zero key: none.
func Partner(partnerID, keyID id.ID) Actor {
	return Actor{Kind: KindPartner, ID: id.Partner.Of(partnerID), Key: keyID}
}

// Operator is an operator.
func Operator(operatorID id.ID) Actor {
	return Actor{Kind: KindOperator, ID: id.Operator.Of(operatorID)}
}

// String is the text of the actor, as stored and shown: the kind, or kind and id ("partner:prt_…"). Nobody is "".
func (a Actor) String() string {
	if a.ID == "" {
		return string(a.Kind)
	}
	return string(a.Kind) + ":" + a.ID
}

// Parse reads the text of an actor, FormerClock too. Any other text, which a later version may have written, is read as
// a kind and an id, and keeps its form.
func Parse(text string) Actor {
	if text == FormerClock {
		return Clock
	}
	kind, name, _ := strings.Cut(text, ":")
	return Actor{Kind: Kind(kind), ID: name}
}

// Texts are the texts under which rows name the actor: its own, and that of earlier versions.
func (a Actor) Texts() []string {
	if a == Clock {
		return []string{a.String(), FormerClock}
	}
	return []string{a.String()}
}
