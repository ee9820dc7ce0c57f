package deposit

import (
	"partnerdeposits/core/actor"
	"partnerdeposits/core/fault"
)

// Status is the status of a deposit (service.md, "Deposit states").
type Status string

// The values of a deposit's status (service.md, "Deposit states").
const (
	Pending      Status = "pending"
	Incomplete   Status = "incomplete"
	Active       Status = "active"
	Cancelled    Status = "cancelled"
	PaymentIssue Status = "payment_issue"
	Closed       Status = "close"
	Captured     Status = "captured"
)

// Statuses lists every status of a deposit, from the first to the final ones.
var Statuses = []Status{Pending, Incomplete, PaymentIssue, Active, Cancelled, Closed, Captured}

// Trigger is the cause of a change of a deposit's status.
type Trigger string

// The causes of a change of a deposit's status (api.md §3).
const (
	TriggerSecured             Trigger = "secured"
	TriggerCheckoutIdle        Trigger = "checkout_idle"
	TriggerFeeFailed           Trigger = "fee_failed"
	TriggerTenantDeclined      Trigger = "tenant_declined"
	TriggerTenantAbandoned     Trigger = "tenant_abandoned"
	TriggerCancelledByOperator Trigger = "by_operator"
	TriggerCancelledByPartner  Trigger = "by_partner"
	TriggerCheckoutExpired     Trigger = "checkout_expired"
	TriggerCoverElapsed        Trigger = "coverage_elapsed"
	TriggerReleased            Trigger = "released"
	TriggerCaptureRequested    Trigger = "claim"
)

// Triggers lists every cause of a change of a deposit's status.
var Triggers = []Trigger{TriggerSecured, TriggerCheckoutIdle, TriggerFeeFailed, TriggerTenantDeclined,
	TriggerTenantAbandoned, TriggerCancelledByOperator,
	TriggerCancelledByPartner, TriggerCheckoutExpired, TriggerCoverElapsed, TriggerReleased, TriggerCaptureRequested}

// StatusReason returns the statusReason of a deposit after the trigger: the trigger's name, or "" for
// TriggerSecured.
func (t Trigger) StatusReason() string {
	if t == TriggerSecured {
		return ""
	}
	return string(t)
}

//go:generate go test partnerdeposits/lab/diagram -count=1 -update

// transitions maps a deposit's status and trigger to the next status (api.md §3). Statuses without an entry are
// final.
var transitions = map[Status]map[Trigger]Status{
	Pending: {
		TriggerCheckoutIdle:        Incomplete,
		TriggerSecured:             Active,
		TriggerFeeFailed:           PaymentIssue,
		TriggerTenantDeclined:      Cancelled,
		TriggerTenantAbandoned:     Cancelled,
		TriggerCancelledByOperator: Cancelled,
		TriggerCancelledByPartner:  Cancelled,
		TriggerCheckoutExpired:     Cancelled,
	},
	Incomplete: {
		TriggerSecured:             Active,
		TriggerFeeFailed:           PaymentIssue,
		TriggerTenantDeclined:      Cancelled,
		TriggerTenantAbandoned:     Cancelled,
		TriggerCancelledByOperator: Cancelled,
		TriggerCancelledByPartner:  Cancelled,
		TriggerCheckoutExpired:     Cancelled,
	},
	PaymentIssue: {
		TriggerSecured:             Active,
		TriggerTenantDeclined:      Cancelled,
		TriggerTenantAbandoned:     Cancelled,
		TriggerCancelledByOperator: Cancelled,
		TriggerCancelledByPartner:  Cancelled,
		TriggerCheckoutExpired:     Cancelled,
	},
	Active: {
		TriggerCoverElapsed:     Closed,
		TriggerReleased:         Closed,
		TriggerCaptureRequested: Captured,
	},
}

// Faults for changes that the status of a deposit does not allow.
var (
	ErrNotCancellable = fault.New(fault.Conflict, "deposit_not_cancellable", "The deposit can no longer be cancelled.")
	ErrNotCapturable  = fault.New(fault.Conflict, "deposit_not_capturable",
		"Only an active deposit can be captured, before it expires.")
	ErrNotReleasable = fault.New(fault.Conflict, "deposit_not_releasable", "Only an active deposit can be released.")
	ErrNotSecurable  = fault.New(fault.Conflict, "deposit_not_securable", "The checkout of this deposit is over.")
)

// refusals maps each trigger to the fault returned where the deposit's status does not allow it. Triggers without
// an entry end a checkout and return ErrNotCancellable.
var refusals = map[Trigger]*fault.Error{
	TriggerSecured:          ErrNotSecurable,
	TriggerCheckoutIdle:     ErrNotSecurable,
	TriggerFeeFailed:        ErrNotSecurable,
	TriggerCoverElapsed:     ErrNotReleasable,
	TriggerReleased:         ErrNotReleasable,
	TriggerCaptureRequested: ErrNotCapturable,
}

// Next returns the status of a deposit after a trigger.
//
// Returns ErrNotCancellable, ErrNotCapturable, ErrNotReleasable or ErrNotSecurable.
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

// Final reports whether a deposit in this status never changes its status again.
func (s Status) Final() bool { return len(transitions[s]) == 0 }

// InCheckout reports whether the tenant can still secure a deposit in this status.
func (s Status) InCheckout() bool { return s == Pending || s == Incomplete || s == PaymentIssue }

// Known reports whether the text is a status of a deposit.
func (s Status) Known() bool {
	for _, k := range Statuses {
		if s == k {
			return true
		}
	}
	return false
}

// ActorKind returns the kind of actor that usually causes the trigger. Where a partner or an operator may cause it,
// the caller knows the actor.
func (t Trigger) ActorKind() actor.Kind {
	switch t {
	case TriggerCancelledByPartner:
		return actor.KindPartner
	case TriggerCancelledByOperator, TriggerReleased, TriggerCaptureRequested:
		return actor.KindOperator
	case TriggerCheckoutIdle, TriggerCheckoutExpired, TriggerCoverElapsed:
		return actor.KindClock
	case TriggerSecured, TriggerFeeFailed, TriggerTenantDeclined, TriggerTenantAbandoned:
	}
	return actor.KindTenant
}
