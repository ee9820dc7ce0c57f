package deposits

import (
	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
)

// The makers of deposits, as the labels of svc_deposits_created_total.
const (
	AuthorPartner  = "partner"
	AuthorOperator = "operator"
)

// DepositAuthors lists the makers of deposits: a partner and an operator.
var DepositAuthors = []string{AuthorPartner, AuthorOperator}

// DepositMetrics counts new deposits and transitions of deposits (metrics.md, "Names").
type DepositMetrics interface {
	// CountCreated counts a new deposit, after the commit. by is one of DepositAuthors.
	CountCreated(by string)
	// CountTransition counts a transition of a deposit, after the commit. by is the kind of actor: a tenant, partner,
	// operator or the clock.
	CountTransition(from, to deposit.Status, by actor.Kind)
}
