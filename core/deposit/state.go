package deposit

import (
	"partnerdeposits/core/fault"
)

// Status is the authoritative status of a deposit (spec, "Deposit states").
type Status string

// The states of the spec.
const (
	Pending      Status = "pending"
	Incomplete   Status = "incomplete"
	Active       Status = "active"
	Cancelled    Status = "cancelled"
	PaymentIssue Status = "payment_issue"
	Closed       Status = "close"
	Captured     Status = "captured"
)

// Statuses lists every status in the order of a deposit's life.
var Statuses = []Status{Pending, Incomplete, PaymentIssue, Active, Cancelled, Closed, Captured}

// Trigger is what moves a deposit; its text is the statusReason that the move leaves behind ("" for the plain success).
type Trigger string

// The triggers of api.md §3.
const (
	Secured             Trigger = "secured"
	CheckoutIdle        Trigger = "checkout_idle"
	FeeFailed           Trigger = "fee_failed"
	TenantDeclined      Trigger = "tenant_declined"
	TenantAbandoned     Trigger = "tenant_abandoned"
	CancelledByOperator Trigger = "by_operator"
	CancelledByPartner  Trigger = "by_partner"
	CheckoutExpired     Trigger = "checkout_expired"
	CoverageElapsed     Trigger = "coverage_elapsed"
	Released            Trigger = "released"
	Claim               Trigger = "claim"
)

// Triggers lists every trigger.
var Triggers = []Trigger{Secured, CheckoutIdle, FeeFailed, TenantDeclined, TenantAbandoned, CancelledByOperator,
	CancelledByPartner, CheckoutExpired, CoverageElapsed, Released, Claim}

// Reason is the statusReason that the trigger leaves on the deposit.
func (t Trigger) Reason() string {
	if t == Secured {
		return ""
	}
	return string(t)
}

//go:generate go run partnerdeposits/cmd/internal/diagram ../../docs/deposit.md

// transitions is the whole life of a deposit; a status without a row is final.
var transitions = map[Status]map[Trigger]Status{
	Pending: {
		CheckoutIdle:        Incomplete,
		Secured:             Active,
		FeeFailed:           PaymentIssue,
		TenantDeclined:      Cancelled,
		TenantAbandoned:     Cancelled,
		CancelledByOperator: Cancelled,
		CancelledByPartner:  Cancelled,
		CheckoutExpired:     Cancelled,
	},
	Incomplete: {
		Secured:             Active,
		FeeFailed:           PaymentIssue,
		TenantDeclined:      Cancelled,
		TenantAbandoned:     Cancelled,
		CancelledByOperator: Cancelled,
		CancelledByPartner:  Cancelled,
		CheckoutExpired:     Cancelled,
	},
	PaymentIssue: {
		Secured:             Active,
		TenantDeclined:      Cancelled,
		TenantAbandoned:     Cancelled,
		CancelledByOperator: Cancelled,
		CancelledByPartner:  Cancelled,
		CheckoutExpired:     Cancelled,
	},
	Active: {
		CoverageElapsed: Closed,
		Released:        Closed,
		Claim:           Captured,
	},
}

// Faults of a move that the status does not allow.
var (
	ErrNotCancellable = fault.New(fault.Conflict, "deposit_not_cancellable", "The deposit can no longer be cancelled.")
	ErrNotCapturable  = fault.New(fault.Conflict, "deposit_not_capturable", "Only an active deposit can be captured, before it expires.")
	ErrNotReleasable  = fault.New(fault.Conflict, "deposit_not_releasable", "Only an active deposit can be released.")
	ErrNotSecurable   = fault.New(fault.Conflict, "deposit_not_securable", "The checkout of this deposit is over.")
)

// refusals tells which fault a refused trigger answers with; the rest is ErrNotCancellable, since they end a checkout.
var refusals = map[Trigger]*fault.Error{
	Secured:         ErrNotSecurable,
	CheckoutIdle:    ErrNotSecurable,
	FeeFailed:       ErrNotSecurable,
	CoverageElapsed: ErrNotReleasable,
	Released:        ErrNotReleasable,
	Claim:           ErrNotCapturable,
}

// Next looks up where trigger leads from s.
//
// Returns ErrNotCancellable, ErrNotCapturable, ErrNotReleasable or ErrNotSecurable, whichever the trigger is about.
func (s Status) Next(t Trigger) (Status, error) {
	if to, ok := transitions[s][t]; ok {
		return to, nil
	}
	refusal, ok := refusals[t]
	if !ok {
		refusal = ErrNotCancellable
	}
	return s, refusal.WithMessage("%s It is %s.", refusal.Message, s)
}

// Final reports whether nothing leads out of s.
func (s Status) Final() bool { return len(transitions[s]) == 0 }

// InCheckout reports whether the tenant can still secure the deposit.
func (s Status) InCheckout() bool { return s == Pending || s == Incomplete || s == PaymentIssue }

// Known reports whether s is one of the states.
func (s Status) Known() bool {
	for _, k := range Statuses {
		if s == k {
			return true
		}
	}
	return false
}

// By tells whose doing the trigger is: tenant, partner, operator or scheduler.
// A release or a claim may come from either side; who it was the caller knows better.
func (t Trigger) By() string {
	switch t {
	case CancelledByPartner:
		return "partner"
	case CancelledByOperator, Released, Claim:
		return "operator"
	case CheckoutIdle, CheckoutExpired, CoverageElapsed:
		return "scheduler"
	case Secured, FeeFailed, TenantDeclined, TenantAbandoned:
	}
	return "tenant"
}
