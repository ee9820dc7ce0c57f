package deposits

import (
	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
)

// The makers of deposits, as the labels of svc_deposits_created_total.
const (
	DepositByPartner  = "partner"
	DepositByOperator = "operator"
)

// DepositAuthors lists the makers of deposits: a partner and an operator.
var DepositAuthors = []string{DepositByPartner, DepositByOperator}

// DepositMetrics counts new deposits and transitions of deposits (metrics.md, "Names").
type DepositMetrics interface {
	// Created counts a new deposit, after the commit. by is one of DepositAuthors.
	Created(by string)
	// Transitioned counts a transition of a deposit, after the commit. by is the kind of actor: a tenant, partner,
	// operator or the clock.
	Transitioned(from, to deposit.Status, by actor.Kind)
}
