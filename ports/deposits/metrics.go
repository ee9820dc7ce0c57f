package deposits

import (
	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
)

// Who makes deposits, as svc_deposits_created_total labels them.
const (
	DepositByPartner  = "partner"
	DepositByOperator = "operator"
)

// DepositAuthors lists who makes deposits.
var DepositAuthors = []string{DepositByPartner, DepositByOperator}

// DepositMetrics counts new deposits and transitions of deposits (metrics.md, "Names").
type DepositMetrics interface {
	// Created counts a new deposit, after the commit. by is one of DepositAuthors.
	Created(by string)
	// Transitioned counts a transition, after the commit. by is a tenant, partner, operator or the clock.
	Transitioned(from, to deposit.Status, by actor.Kind)
}
