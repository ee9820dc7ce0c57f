package deposit

import (
	"maps"
	"strconv"
	"time"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
)

// CollectionState is the state of a collection (api.md §3, "Collection").
type CollectionState string

// The states of a collection, which charges a captured amount to the tenant.
const (
	CollectionScheduled CollectionState = "scheduled" // The collection's card has not been charged yet.
	// The collection's card was refused, and will be charged again.
	CollectionRetrying CollectionState = "retrying"
	// The schedule charges the card no more: the tenant has to pay the debt on the provider's page.
	CollectionAwaitingTenant CollectionState = "awaiting_tenant"
	CollectionPaid           CollectionState = "paid"
	// The collection ended without payment: by operator or staff, by age, or as too small to be charged.
	CollectionFailed CollectionState = "failed"
)

// CollectionStates lists every state of a collection, from the first to the final ones.
var CollectionStates = []CollectionState{CollectionScheduled, CollectionRetrying, CollectionAwaitingTenant,
	CollectionPaid,
	CollectionFailed}

// CollectionTrigger is the cause for which a collection changes its state.
type CollectionTrigger string

// The causes for which a collection changes its state (api.md §3, "Collection").
const (
	CollectionTriggerCharged      CollectionTrigger = "charged"
	CollectionTriggerPaidByTenant CollectionTrigger = "paid_by_tenant"
	// The bank refused the charge for now, as for lack of funds. The schedule charges the card again.
	CollectionTriggerRefusedForNow CollectionTrigger = "refused_for_now"
	// The bank refused the charge and the tenant has to act, or the schedule is over.
	CollectionTriggerRefused        CollectionTrigger = "card_refused"
	CollectionTriggerRetriedByStaff CollectionTrigger = "retried"
	CollectionTriggerCancelled      CollectionTrigger = "cancelled"
	CollectionTriggerExpired        CollectionTrigger = "expired"
	// The debt is less than the payment provider can charge.
	CollectionTriggerTooSmall         CollectionTrigger = "below_minimum"
	CollectionTriggerSettledElsewhere CollectionTrigger = "settled_elsewhere"
	CollectionTriggerWithdrawn        CollectionTrigger = "withdrawn"
)

// CollectionTriggers lists every cause for which a collection changes its state.
var CollectionTriggers = []CollectionTrigger{
	CollectionTriggerCharged, CollectionTriggerPaidByTenant, CollectionTriggerRefusedForNow, CollectionTriggerRefused,
	CollectionTriggerRetriedByStaff, CollectionTriggerCancelled, CollectionTriggerExpired,
	CollectionTriggerTooSmall, CollectionTriggerSettledElsewhere, CollectionTriggerWithdrawn,
}

// collectionSteps maps each state of a collection and each trigger to the next state. States without an entry are
// final.
var collectionSteps = map[CollectionState]map[CollectionTrigger]CollectionState{
	CollectionScheduled: {
		CollectionTriggerCharged:          CollectionPaid,
		CollectionTriggerRefusedForNow:    CollectionRetrying,
		CollectionTriggerRefused:          CollectionAwaitingTenant,
		CollectionTriggerRetriedByStaff:   CollectionScheduled,
		CollectionTriggerCancelled:        CollectionFailed,
		CollectionTriggerExpired:          CollectionFailed,
		CollectionTriggerTooSmall:         CollectionFailed,
		CollectionTriggerSettledElsewhere: CollectionFailed,
		CollectionTriggerWithdrawn:        CollectionFailed,
	},
	CollectionRetrying: {
		CollectionTriggerCharged:          CollectionPaid,
		CollectionTriggerRefusedForNow:    CollectionRetrying,
		CollectionTriggerRefused:          CollectionAwaitingTenant,
		CollectionTriggerRetriedByStaff:   CollectionRetrying,
		CollectionTriggerCancelled:        CollectionFailed,
		CollectionTriggerExpired:          CollectionFailed,
		CollectionTriggerTooSmall:         CollectionFailed,
		CollectionTriggerSettledElsewhere: CollectionFailed,
		CollectionTriggerWithdrawn:        CollectionFailed,
	},
	CollectionAwaitingTenant: {
		CollectionTriggerPaidByTenant:     CollectionPaid,
		CollectionTriggerRetriedByStaff:   CollectionRetrying,
		CollectionTriggerCancelled:        CollectionFailed,
		CollectionTriggerExpired:          CollectionFailed,
		CollectionTriggerTooSmall:         CollectionFailed,
		CollectionTriggerSettledElsewhere: CollectionFailed,
		CollectionTriggerWithdrawn:        CollectionFailed,
	},
}

// Faults of acts on a collection: there is none, it is over, or the card or the tenant cannot be charged.
var (
	ErrNoCollection           = fault.New(fault.NotFound, "collection_not_found", "There is no such collection.")
	ErrCollectionOver         = fault.New(fault.Conflict, "collection_over", "The collection is over.")
	ErrCollectionNotRetryable = fault.New(fault.Conflict, "collection_not_retryable",
		"The card must not be charged again.")
	ErrCollectionNotPayable = fault.New(fault.Conflict, "collection_not_payable", "There is nothing to pay at the moment.")
)

// Next returns the state of a collection after trigger t in state s. Returns ErrCollectionOver if s does not allow
// t.
func (s CollectionState) Next(t CollectionTrigger) (CollectionState, error) {
	if to, ok := collectionSteps[s][t]; ok {
		return to, nil
	}
	return s, ErrCollectionOver.WithMessage("The collection is %s.", s)
}

// EndsUnpaid reports whether the trigger ends a collection without payment.
func (t CollectionTrigger) EndsUnpaid() bool {
	return t == CollectionTriggerCancelled || t == CollectionTriggerExpired ||
		t == CollectionTriggerTooSmall || t.EndedByOperator()
}

// EndedByOperator reports whether the trigger is one by which an operator ends a collection.
func (t CollectionTrigger) EndedByOperator() bool {
	return t == CollectionTriggerSettledElsewhere || t == CollectionTriggerWithdrawn
}

// Final reports whether a collection in this state never changes again.
func (s CollectionState) Final() bool { return len(collectionSteps[s]) == 0 }

// DebtExpiresAfter is how long after the capture an unpaid collection fails (api.md §3, "Collection").
const DebtExpiresAfter = 180 * 24 * time.Hour

// Debt is a captured amount with the state of its collection. PaymentID is its payment at the provider. A time that
// is not set is zero.
type Debt struct {
	PaymentID   id.ID
	DepositID   id.ID
	State       CollectionState
	Transitions int
	CapturedAt  time.Time // The time of the capture, from which the schedule of charges counts.
	Attempt     int       // The number of the last charge of the card, stored before the provider is called.
	// Whether the provider has answered the last attempt to charge the card.
	Answered      bool
	AttemptedAt   time.Time
	NextAttemptAt time.Time
	PageAt        time.Time
	EndedAt       time.Time
	// The code of the last refusal of the card, or of the reason for which the collection ended.
	Failure string
	Barred  bool // Whether the bank forbids further charges of the card.
	// When the end of the collection was requested. The provider is notified next.
	CancelAt time.Time
	CancelBy actor.Actor
	// The way in which an operator ends the collection; "" for any other end.
	CancelAs CollectionTrigger
	AskedAt  time.Time // When the tenant was last mailed the link to pay, or a job was to send that mail.
}

// InTimeZone returns a copy of the debt with its times in a time zone; nil for a nil debt.
func (d *Debt) InTimeZone(zone *time.Location) *Debt {
	if d == nil {
		return nil
	}
	out := *d
	for _, at := range []*time.Time{&out.CapturedAt, &out.AttemptedAt, &out.NextAttemptAt, &out.PageAt, &out.EndedAt,
		&out.CancelAt, &out.AskedAt} {
		*at = at.In(zone)
	}
	return &out
}

// CollectionTransition is an entry of a collection's history: one change of its state.
type CollectionTransition struct {
	PaymentID id.ID
	Number    int // The number of this change of the collection, counted from 1.
	From      CollectionState
	To        CollectionState
	Trigger   CollectionTrigger
	At        time.Time
	Actor     actor.Actor
	// The number of the charge and the code of its failure.
	Detail map[string]string
}

// NewDebt returns the debt for a collection whose payment was just created.
func NewDebt(p Payment, schedule CollectionSchedule) Debt {
	return Debt{
		PaymentID: p.ID, DepositID: p.DepositID, State: CollectionScheduled, Answered: true, CapturedAt: p.CreatedAt,
		NextAttemptAt: p.CreatedAt.Add(schedule.first()),
	}
}

// NewCollectionPayment returns the payment that collects a deposit's captured amount, first charged by the
// schedule.
func NewCollectionPayment(paymentID id.ID, d *Deposit, schedule CollectionSchedule, now time.Time) Payment {
	return Payment{
		ID: paymentID, DepositID: d.ID, Kind: PaymentKindCollection, Amount: d.CapturedAmount, Status: PaymentProcessing,
		CreatedAt: now, CheckAt: now.Add(schedule.first()),
	}
}

// step changes the state of the debt and returns the entry for its history. Returns ErrCollectionOver if the state
// does not allow the trigger.
func (d *Debt) step(
	t CollectionTrigger, by actor.Actor, detail map[string]string, now time.Time,
) (CollectionTransition, error) {
	to, err := d.State.Next(t)
	if err != nil {
		return CollectionTransition{}, err
	}
	d.Transitions++
	made := CollectionTransition{
		PaymentID: d.PaymentID, Number: d.Transitions, From: d.State, To: to, Trigger: t, At: now, Actor: by,
		Detail: maps.Clone(detail),
	}
	d.State = to
	if to.Final() {
		d.EndedAt, d.NextAttemptAt = now, time.Time{}
	}
	return made, nil
}

// ChargeDue reports whether to charge the card now: the last attempt is unanswered, or the time of the next has
// come.
func (d *Debt) ChargeDue(now time.Time) bool {
	if d.State != CollectionScheduled && d.State != CollectionRetrying {
		return false
	}
	return !d.Answered || !now.Before(d.NextAttemptAt)
}

// BeginAttempt counts a new attempt to charge the card, unless the last one is still unanswered.
func (d *Debt) BeginAttempt(now time.Time) {
	if d.Answered {
		d.Attempt, d.Answered, d.AttemptedAt, d.NextAttemptAt = d.Attempt+1, false, now, time.Time{}
	}
}

// MarkPaid ends the collection as paid. Returns ErrCollectionOver if it has ended already.
func (d *Debt) MarkPaid(by actor.Actor, now time.Time) (CollectionTransition, error) {
	t := CollectionTriggerCharged
	if d.State == CollectionAwaitingTenant {
		t = CollectionTriggerPaidByTenant
	}
	made, err := d.step(t, by, d.detail(), now)
	if err == nil {
		d.Answered, d.Failure = true, ""
	}
	return made, err
}

// ChargeRefusal describes how the bank refused a charge.
type ChargeRefusal struct {
	Failure string
	// Whether the bank's refusal may pass, so that the same card may be charged some days later.
	Passes bool
	Barred bool // Whether the card must not be charged again.
}

// RecordRefusal records that the bank refused the last charge of the debt. Returns ErrCollectionOver if the collection
// has ended.
func (d *Debt) RecordRefusal(r ChargeRefusal, schedule CollectionSchedule, by actor.Actor,
	now time.Time) (CollectionTransition, error) {
	next, more := schedule.NextChargeAfter(d.Attempt, d.CapturedAt, now)
	t := CollectionTriggerRefused
	if r.Passes && more {
		t = CollectionTriggerRefusedForNow
	} else {
		next = time.Time{}
	}
	before := d.Failure
	d.Failure = r.Failure
	made, err := d.step(t, by, d.detail(), now)
	if err != nil {
		d.Failure = before
		return made, err
	}
	d.Answered, d.NextAttemptAt, d.Barred = true, next, r.Barred
	if d.State == CollectionAwaitingTenant {
		d.AskedAt = now
	}
	return made, nil
}

// ScheduleRetry schedules a charge of the card for now, as staff requested.
//
// Returns ErrCollectionOver, or ErrCollectionNotRetryable if the bank forbids the charge, after MaxChargeAttempts,
// and after ChargeAttemptWindow.
func (d *Debt) ScheduleRetry(by actor.Actor, now time.Time) (CollectionTransition, error) {
	if err := d.chargeable(now); err != nil && !d.State.Final() {
		return CollectionTransition{}, err
	}
	made, err := d.step(CollectionTriggerRetriedByStaff, by, nil, now)
	if err == nil && d.Answered {
		d.NextAttemptAt = now
	}
	return made, err
}

// chargeable returns ErrCollectionNotRetryable for a debt whose card must not be charged again.
func (d *Debt) chargeable(now time.Time) error {
	if d.Barred {
		return ErrCollectionNotRetryable.WithMessage(
			"The bank forbids another charge of this card (%s). The tenant can pay with another card.", d.Failure)
	}
	if d.Attempt >= MaxChargeAttempts && d.Answered {
		return ErrCollectionNotRetryable.WithMessage(
			"The card was charged %d times without success, which is the card networks' limit.", d.Attempt)
	}
	if !now.Before(d.CapturedAt.Add(ChargeAttemptWindow)) {
		return ErrCollectionNotRetryable.WithMessage(
			"The capture is older than 30 days, which is the card networks' limit.")
	}
	return nil
}

// MarkFailed ends the collection without payment. Returns ErrCollectionOver if it has ended already.
func (d *Debt) MarkFailed(t CollectionTrigger, by actor.Actor, now time.Time) (CollectionTransition, error) {
	made, err := d.step(t, by, d.detail(), now)
	if err == nil {
		d.Answered, d.Failure = true, string(t)
	}
	return made, err
}

// Expired reports whether the collection is still unpaid DebtExpiresAfter after the capture.
func (d *Debt) Expired(now time.Time) bool {
	return !d.State.Final() && !now.Before(d.CapturedAt.Add(DebtExpiresAfter))
}

func (d *Debt) detail() map[string]string {
	detail := map[string]string{}
	if d.Attempt > 0 {
		detail["attempt"] = strconv.Itoa(d.Attempt)
	}
	if d.Failure != "" {
		detail["failure"] = d.Failure
	}
	return detail
}
