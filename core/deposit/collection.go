package deposit

import (
	"maps"
	"strconv"
	"time"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
)

// CollectionState is the state of a collection, as operators, partners and staff see it (api.md §3, "Collection").
type CollectionState string

// The states of a collection.
const (
	CollectionScheduled CollectionState = "scheduled"       // the card has not been charged yet
	CollectionRetrying  CollectionState = "retrying"        // the card was refused, and will be charged again
	AwaitingTenant      CollectionState = "awaiting_tenant" // the tenant has to pay with a card on the provider's page
	CollectionPaid      CollectionState = "paid"
	CollectionFailed    CollectionState = "failed" // ended by operator or staff, unpaid, or too small to be charged
)

// CollectionStates lists every state of a collection, in the order of its life.
var CollectionStates = []CollectionState{CollectionScheduled, CollectionRetrying, AwaitingTenant, CollectionPaid,
	CollectionFailed}

// CollectionTrigger is the cause of a step of a collection.
type CollectionTrigger string

// The triggers of a step (api.md §3, "Collection").
const (
	CardCharged         CollectionTrigger = "charged"
	PaidByTenant        CollectionTrigger = "paid_by_tenant"
	RefusedForNow       CollectionTrigger = "refused_for_now" // such as lack of funds: the next time of the schedule
	CardRefused         CollectionTrigger = "card_refused"    // the tenant is needed, or the schedule is over
	RetriedByStaff      CollectionTrigger = "retried"
	CollectionCancelled CollectionTrigger = "cancelled"
	CollectionExpired   CollectionTrigger = "expired"           // not paid within UnpaidFor
	CollectionTooSmall  CollectionTrigger = "below_minimum"     // less than the provider can charge
	SettledElsewhere    CollectionTrigger = "settled_elsewhere" // the tenant paid the operator by other means
	CollectionWithdrawn CollectionTrigger = "withdrawn"         // the operator gives the debt up
)

// CollectionTriggers lists every trigger of a step.
var CollectionTriggers = []CollectionTrigger{
	CardCharged, PaidByTenant, RefusedForNow, CardRefused, RetriedByStaff, CollectionCancelled, CollectionExpired,
	CollectionTooSmall, SettledElsewhere, CollectionWithdrawn,
}

// collectionSteps holds every step that is allowed; a state without a row is final.
var collectionSteps = map[CollectionState]map[CollectionTrigger]CollectionState{
	CollectionScheduled: {
		CardCharged:         CollectionPaid,
		RefusedForNow:       CollectionRetrying,
		CardRefused:         AwaitingTenant,
		RetriedByStaff:      CollectionScheduled,
		CollectionCancelled: CollectionFailed,
		CollectionExpired:   CollectionFailed,
		CollectionTooSmall:  CollectionFailed,
		SettledElsewhere:    CollectionFailed,
		CollectionWithdrawn: CollectionFailed,
	},
	CollectionRetrying: {
		CardCharged:         CollectionPaid,
		RefusedForNow:       CollectionRetrying,
		CardRefused:         AwaitingTenant,
		RetriedByStaff:      CollectionRetrying,
		CollectionCancelled: CollectionFailed,
		CollectionExpired:   CollectionFailed,
		CollectionTooSmall:  CollectionFailed,
		SettledElsewhere:    CollectionFailed,
		CollectionWithdrawn: CollectionFailed,
	},
	AwaitingTenant: {
		PaidByTenant:        CollectionPaid,
		RetriedByStaff:      CollectionRetrying,
		CollectionCancelled: CollectionFailed,
		CollectionExpired:   CollectionFailed,
		CollectionTooSmall:  CollectionFailed,
		SettledElsewhere:    CollectionFailed,
		CollectionWithdrawn: CollectionFailed,
	},
}

// Faults of acts on a collection.
var (
	ErrNoCollection           = fault.New(fault.NotFound, "collection_not_found", "There is no such collection.")
	ErrCollectionOver         = fault.New(fault.Conflict, "collection_over", "The collection is over.")
	ErrCollectionNotRetryable = fault.New(fault.Conflict, "collection_not_retryable",
		"The card must not be charged again.")
	ErrCollectionNotPayable = fault.New(fault.Conflict, "collection_not_payable", "There is nothing to pay at the moment.")
)

// Next is the state after trigger t in state s. Returns ErrCollectionOver for a step that is not allowed.
func (s CollectionState) Next(t CollectionTrigger) (CollectionState, error) {
	if to, ok := collectionSteps[s][t]; ok {
		return to, nil
	}
	return s, ErrCollectionOver.WithMessage("The collection is %s.", s)
}

// Ends reports whether t ends a collection without payment. The failure of such a step is the trigger itself.
func (t CollectionTrigger) Ends() bool {
	return t == CollectionCancelled || t == CollectionExpired || t == CollectionTooSmall || t.EndedByOperator()
}

// EndedByOperator reports whether t is an operator's end of a collection.
func (t CollectionTrigger) EndedByOperator() bool {
	return t == SettledElsewhere || t == CollectionWithdrawn
}

// Final reports whether no step leads out of s.
func (s CollectionState) Final() bool { return len(collectionSteps[s]) == 0 }

// UnpaidFor is how long after the capture a collection without payment becomes failed (api.md §3, "Collection").
const UnpaidFor = 180 * 24 * time.Hour

// Debt is a captured amount with the state of its collection. The payment of the collection is the record with the
// provider. A time that is not set is zero.
type Debt struct {
	PaymentID     id.ID
	DepositID     id.ID
	State         CollectionState
	Transitions   int       // number of steps so far
	CapturedAt    time.Time // the schedule counts from here
	Attempt       int       // number of the last attempt, stored before the provider is called
	Answered      bool      // the provider has answered the last attempt
	AttemptedAt   time.Time // of the last attempt
	NextAttemptAt time.Time
	PageAt        time.Time // the tenant last asked for the provider's page
	EndedAt       time.Time // paid or failed
	Failure       string    // code of the last refusal, or of the end
	Barred        bool      // the card must not be charged again
	CancelAt      time.Time // operator, staff or the clock asked for the end; the provider is told next
	CancelBy      actor.Actor
	CancelAs      CollectionTrigger // an operator's end; "" for any other
	AskedAt       time.Time         // the tenant was last mailed the link to pay, or the mail was left to a job
}

// In gives a copy of the debt whose times carry a time zone; nil for nil.
func (d *Debt) In(zone *time.Location) *Debt {
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

// CollectionTransition is a step of a collection, kept as its history.
type CollectionTransition struct {
	PaymentID id.ID
	Number    int // counts from 1
	From      CollectionState
	To        CollectionState
	Trigger   CollectionTrigger
	At        time.Time
	Actor     actor.Actor
	Detail    map[string]string // attempt, failure
}

// NewDebt is the debt of a collection whose payment was made now. The first attempt is due by the schedule.
func NewDebt(p Payment, schedule CollectionSchedule) Debt {
	return Debt{
		PaymentID: p.ID, DepositID: p.DepositID, State: CollectionScheduled, Answered: true, CapturedAt: p.CreatedAt,
		NextAttemptAt: p.CreatedAt.Add(schedule.first()),
	}
}

// NewCollection is the payment that collects the captured amount of d, due by the schedule.
func NewCollection(paymentID id.ID, d *Deposit, schedule CollectionSchedule, now time.Time) Payment {
	return Payment{
		ID: paymentID, DepositID: d.ID, Kind: Collection, Amount: d.CapturedAmount, Status: PaymentProcessing,
		CreatedAt: now, CheckAt: now.Add(schedule.first()),
	}
}

// step applies t. Returns ErrCollectionOver.
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

// Due reports whether the card is to be charged now: an attempt has begun without an answer, or the time of the next
// has come.
func (d *Debt) Due(now time.Time) bool {
	if d.State != CollectionScheduled && d.State != CollectionRetrying {
		return false
	}
	return !d.Answered || !now.Before(d.NextAttemptAt)
}

// Begin counts an attempt, unless one has begun that the provider has not answered.
func (d *Debt) Begin(now time.Time) {
	if d.Answered {
		d.Attempt, d.Answered, d.AttemptedAt, d.NextAttemptAt = d.Attempt+1, false, now, time.Time{}
	}
}

// Paid ends the collection. Returns ErrCollectionOver for one that is over.
func (d *Debt) Paid(by actor.Actor, now time.Time) (CollectionTransition, error) {
	t := CardCharged
	if d.State == AwaitingTenant {
		t = PaidByTenant
	}
	made, err := d.step(t, by, d.detail(), now)
	if err == nil {
		d.Answered, d.Failure = true, ""
	}
	return made, err
}

// Refused records the answer to an attempt. A refusal that may pass is followed by the next time of the schedule. After
// any other, or where the schedule is over, the tenant has to pay.
type Refused struct {
	Failure string
	Passes  bool // the same card may be charged some days later
	Barred  bool // the card must not be charged again
}

// Refuse applies r. Returns ErrCollectionOver.
func (d *Debt) Refuse(r Refused, schedule CollectionSchedule, by actor.Actor,
	now time.Time) (CollectionTransition, error) {
	next, more := schedule.After(d.Attempt, d.CapturedAt, now)
	t := CardRefused
	if r.Passes && more {
		t = RefusedForNow
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
	if d.State == AwaitingTenant {
		d.AskedAt = now
	}
	return made, nil
}

// Retry plans an attempt for now, at the wish of staff.
//
// Returns ErrCollectionOver, or ErrCollectionNotRetryable for a card that must not be charged again and after
// MaxAttempts.
func (d *Debt) Retry(by actor.Actor, now time.Time) (CollectionTransition, error) {
	if err := d.chargeable(now); err != nil && !d.State.Final() {
		return CollectionTransition{}, err
	}
	made, err := d.step(RetriedByStaff, by, nil, now)
	if err == nil && d.Answered {
		d.NextAttemptAt = now
	}
	return made, err
}

// chargeable returns ErrCollectionNotRetryable for a card that must not be charged once more.
func (d *Debt) chargeable(now time.Time) error {
	if d.Barred {
		return ErrCollectionNotRetryable.WithMessage(
			"The bank forbids another charge of this card (%s). The tenant can pay with another card.", d.Failure)
	}
	if d.Attempt >= MaxAttempts && d.Answered {
		return ErrCollectionNotRetryable.WithMessage(
			"The card was charged %d times without success, which is the card networks' limit.", d.Attempt)
	}
	if !now.Before(d.CapturedAt.Add(LastAttempt)) {
		return ErrCollectionNotRetryable.WithMessage(
			"The capture is older than 30 days, which is the card networks' limit.")
	}
	return nil
}

// Fail ends the collection without payment, by a trigger that Ends. Returns ErrCollectionOver.
func (d *Debt) Fail(t CollectionTrigger, by actor.Actor, now time.Time) (CollectionTransition, error) {
	made, err := d.step(t, by, d.detail(), now)
	if err == nil {
		d.Answered, d.Failure = true, string(t)
	}
	return made, err
}

// Expired reports whether the collection has been without payment for too long.
func (d *Debt) Expired(now time.Time) bool {
	return !d.State.Final() && !now.Before(d.CapturedAt.Add(UnpaidFor))
}

// detail is the attempt and the code of the last refusal, for the history.
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
