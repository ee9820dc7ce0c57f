package webhooks

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
)

// The types of the dispatcher's data, in the order in which a delivery passes through them:
//
//	Event     the fact, an outbox row
//	Delivery  the event for a subscription
//	Claim     the right to make the next dispatch of a delivery
//	Job       claims on their way to a worker
//	Attempt   the result of a POST (webhook.Attempt)
//	Outcome   the attempt with its consequence for the delivery

// Subscription is a webhook subscription that is not deleted, with the fields that the dispatcher needs.
type Subscription struct {
	ID        id.ID
	PartnerID id.ID
	Events    []webhook.EventName
	Enabled   bool
	Health    webhook.Health
}

// Delivery is an event for a subscription. It is made from an event of the outbox, which sets some of its
// fields, and read again just before each POST.
type Delivery struct {
	Claim   // The right of a dispatcher to attempt the delivery (its claim); the database numbers the claims.
	EventID id.ID
	Event   webhook.EventName
	EventAt time.Time
	// The deposit that the event is about, set for a new delivery only; zero for rental_operator.linked.
	DepositID id.ID
	Body      []byte
	// The state in which the delivery is stored: Dispatched with a lease, for an attempt at once, or Waiting until
	// a dispatcher finds it.
	State webhook.DeliveryState
	// Whether the new delivery waits without a due time, because its subscription is disabled.
	Parked bool
	// TraceParent is the parent span of the attempts, as a W3C traceparent; "" without traces. RequestID is the id of
	// the request that made the change; "" for none.
	TraceParent, RequestID string

	// The fields from here on are set when the delivery is read just before its POST.
	Found bool
	// Whether the dispatcher's claim, its right to attempt the delivery, is the newest one, and the delivery is still
	// Dispatched.
	Current bool
	Enabled bool
	// Whether the endpoint's health shows no failure, so a success changes nothing in it.
	Healthy   bool
	LeaseLeft time.Duration
	Attempts  int
	Test      bool
	URL       string
	Standard  bool
	Secret    secret.Text
	LoadErr   error
	SecretErr error
	ReadAt    time.Time
	Skew      time.Duration
}

// NewDelivery returns the first delivery of an event to a subscription, which no dispatcher has taken for an
// attempt.
func NewDelivery(e *ports.Event, subscriptionID id.ID, name webhook.EventName, body []byte) Delivery {
	return Delivery{
		Claim:   Claim{DeliveryID: webhook.OriginalDeliveryID(e.ID, subscriptionID), SubscriptionID: subscriptionID},
		EventID: e.ID, Event: name, EventAt: e.CommittedAt, DepositID: e.DepositID, Body: body,
		State:       webhook.DeliveryStateWaiting,
		TraceParent: e.TraceParent, RequestID: e.RequestID,
	}
}

// Claim is the right of a dispatcher to attempt a delivery until its lease ends.
type Claim struct {
	DeliveryID     id.ID
	SubscriptionID id.ID
	Seq            int32
	// When the event was committed, by the database's clock, for a claim made together with the delivery. Zero for
	// other claims, whose start delay is not measured.
	DueAt time.Time
	// PartnerID is the partner that owns the subscription.
	PartnerID id.ID
	// Requested: true if a partner requested the delivery, by a test, a redelivery or a replay; false if an event
	// caused it.
	Requested bool
}

// AttemptOutcome is a finished attempt to send a delivery, and its consequence for the delivery. An outcome without an
// attempt (webhook.Attempt.WasMade) puts the delivery off.
type AttemptOutcome struct {
	Delivery *Delivery
	Attempt  webhook.Attempt
	Verdict  webhook.DeliveryVerdict
	// StartDelay is the time from when the delivery was due to its POST. Negative: not measured, since the claim was
	// not made together with the delivery, or the endpoint had all of its POSTs in flight.
	StartDelay time.Duration
	// Tell: true if the time of this success is stored, although it changes nothing in the endpoint's health
	// (webhook.LastSuccessGranularity); false if not.
	Tell bool
	// Excused: true if the broken outbound network of this service caused the failure, not the endpoint
	// (webhook.Health.AfterExcusedAttempt); false otherwise.
	Excused bool
}

// PlanDeliveriesFunc is a function that returns the deliveries of events to the subscriptions.
type PlanDeliveriesFunc func(events []ports.Event, subscriptions []Subscription) []Delivery

// RelayStore turns the events of the outbox into deliveries.
type RelayStore interface {
	// OutboxPending reports whether the outbox has an event, and how long ago its first event was committed. The query
	// is cheap enough for an idle dispatcher to repeat.
	OutboxPending(ctx context.Context) (pending bool, waited time.Duration, err error)
	// Relay removes up to limit events from the outbox and inserts the deliveries that plan returns for them, in the
	// same transaction; claims are the rights to attempt these deliveries at once. plan may run again. Returns
	// *RefusedEventsError when the database refuses the events, which then stay in the outbox.
	Relay(ctx context.Context, limit int, lease time.Duration, plan PlanDeliveriesFunc) (relayed int, claims []Claim,
		err error)
	SetEventAside(ctx context.Context, eventID id.ID, reason string) (moved bool, err error)
}

// RefusedEventsError is the error for a group of events that the database refuses to store because of at least one
// of them.
type RefusedEventsError struct {
	Events []ports.Event
	Reason string
	Err    error
}

func (r *RefusedEventsError) Error() string { return r.Err.Error() }

func (r *RefusedEventsError) Unwrap() error { return r.Err }

// ClaimQuota is the number of further deliveries of a subscription that dispatchers may take for an attempt.
type ClaimQuota struct {
	SubscriptionID id.ID
	Room           int
}

// DueScanResult is the result of a query for due deliveries.
type DueScanResult struct {
	Subscriptions []Subscription
	Urgent        bool
	// The time until a delivery of a subscription that has none due now becomes due; at most the time that the
	// query looked ahead.
	Next time.Duration
}

// ClaimStore finds due deliveries and claims them: it reserves each for the attempt of a dispatcher. Only the
// database's clock decides what is due (delivery.md, point 3).
type ClaimStore interface {
	FindDue(ctx context.Context, horizon time.Duration) (DueScanResult, error)
	// ClaimDue reserves due deliveries for a dispatcher for the time of the lease, oldest first, as many of each
	// subscription as its room allows.
	ClaimDue(ctx context.Context, rooms []ClaimQuota, lease time.Duration) ([]Claim, error)
	// ClaimUrgent reserves deliveries for a dispatcher whatever the room of their subscriptions: test
	// deliveries, and deliveries whose dispatcher died before the end of its lease. recovered is the number of the
	// latter. The claims name their partners.
	ClaimUrgent(ctx context.Context, limit int, lease time.Duration) (claims []Claim, recovered int, err error)
	CountClaimed(ctx context.Context) (map[id.ID]int, error)
	// ExpireLeases withdraws all claims of deliveries that are older than olderThan, except those of the deliveries
	// in keep, because the queue lost their jobs.
	ExpireLeases(ctx context.Context, olderThan, lease, grace time.Duration, keep []id.ID) (int, error)
}

// AttemptStore reads claimed deliveries (those reserved for a dispatcher) before their POST, and records their
// attempts.
type AttemptStore interface {
	// LoadClaimed reads claimed deliveries and the present secrets of their subscriptions, in the order of the
	// claims.
	LoadClaimed(ctx context.Context, claims []Claim) ([]Delivery, error)
	// RecordOutcomes writes outcomes of attempts in a transaction: a success always, a failure only if its dispatcher
	// still has the newest claim. The same transaction updates the health at now of the subscriptions in adjust;
	// limit is WEBHOOK_ENDPOINT_CONCURRENCY. settled[i] reports whether the i-th outcome took effect.
	RecordOutcomes(
		ctx context.Context, outcomes []AttemptOutcome, adjust []id.ID, limit int, now time.Time,
	) (settled []bool, health map[id.ID]webhook.Health, err error)
	// RenewClaims replaces claims of deliveries by new ones, so that jobs with the old claims have no effect. Claims
	// that did not count any more are left out of the result.
	RenewClaims(ctx context.Context, claims []Claim, lease time.Duration) ([]Claim, error)
	// ReleaseClaims gives up claims of deliveries. The deliveries become due at once, or wait without a due time when
	// their subscription is disabled.
	ReleaseClaims(ctx context.Context, claims []Claim) error
	// DisableSubscription disables a subscription whose attempts have all failed for webhook.DisableAfter, stops its
	// deliveries and stores a notice to the partner's contact.
	DisableSubscription(ctx context.Context, subscriptionID id.ID) error
}
