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
//	Delivery  the event for one subscription
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
	Held      webhook.Held
}

// Delivery is an event for one subscription. The relay plans it, which sets some of its fields. Load reads the
// delivery again just before each POST.
type Delivery struct {
	Claim   // The claim of the delivery; the store sets its Seq.
	EventID id.ID
	Event   webhook.EventName
	EventAt time.Time // The time at which the event committed.
	// The deposit that the event is about, set when planned, not when loaded; zero for rental_operator.linked.
	DepositID id.ID
	Body      []byte
	// The planned state: Dispatched starts with a lease; a Waiting delivery is found by the scan.
	State webhook.State
	// true: planned as Waiting without a due time, because the subscription is disabled; false: not parked.
	Parked bool
	// TraceParent is the parent span of the attempts, as a W3C traceparent; "" without traces. RequestID is the id
	// of the request that made the change; "" for a change by a timer or an admin command. Both are set when a
	// delivery is planned and when it is loaded.
	TraceParent, RequestID string

	// The following fields are set by Load.
	Found bool
	// true: the claim is the delivery's newest, and the delivery is still Dispatched; false: the claim is stale.
	Current bool
	Enabled bool // true: the subscription is enabled; false: it is disabled.
	// true: the subscription's health is clean, and a success does not change it; false: it is not clean.
	Healthy   bool
	Held      webhook.Held // The last span of time in which the circuit held the deliveries back.
	LeaseLeft time.Duration
	Attempts  int // The number of finished attempts.
	Test      bool
	URL       string
	// true: the subscription's deliveries also carry the signature of Standard Webhooks; false: they do not.
	Standard bool
	Secret   secret.Text
	LoadErr  error // The error of the query that loads deliveries, set by the dispatcher.
	// Filed waits for the commit of the relay that made the claim. It reports true if the claim was committed and
	// false if not. nil: the claim was committed before the load.
	Filed func() bool
	// The error of a secret that does not decrypt, or of a refused keyset; the delivery cannot be signed.
	SecretErr error
	ReadAt    time.Time     // When the delivery was loaded: the clock of this process, before the query.
	Skew      time.Duration // The database's clock minus the clock of this process.
}

// NewDelivery returns the original delivery of an event to a subscription, not yet claimed.
func NewDelivery(e *ports.Event, subscriptionID id.ID, name webhook.EventName, body []byte) Delivery {
	return Delivery{
		Claim:   Claim{DeliveryID: webhook.OriginalID(e.ID, subscriptionID), SubscriptionID: subscriptionID},
		EventID: e.ID, Event: name, EventAt: e.CommittedAt, DepositID: e.DepositID, Body: body, State: webhook.Waiting,
		TraceParent: e.TraceParent, RequestID: e.RequestID,
	}
}

// Claim is the right to make the Seq-th dispatch of a delivery while the lease runs.
type Claim struct {
	DeliveryID     id.ID
	SubscriptionID id.ID
	Seq            int32 // The number of the claim among those of its delivery, counted from 1.
	// DueAt is when the delivery became due, by the database's clock: for a delivery that the relay claims the
	// commit of its event, for others the due time before the claim. Zero: not known, since an older dispatcher sent
	// the job.
	DueAt time.Time
	// PartnerID is the partner that owns the subscription, set by ClaimUrgent and for jobs. Zero: not known, since
	// the store that made the claim, or the older dispatcher that sent the job, does not set it.
	PartnerID id.ID
	// Requested: true if a partner requested the delivery, by a test, a redelivery or a replay; false if an event
	// caused it.
	Requested bool
}

// Outcome is a finished attempt and its consequence for the delivery. An outcome without an attempt
// (webhook.Attempt.Made) puts the delivery off.
type Outcome struct {
	Delivery *Delivery // The delivery as it was loaded before the attempt.
	Attempt  webhook.Attempt
	Verdict  webhook.Verdict
	// StartDelay is the time from due to the POST, without the time in which the endpoint itself held its deliveries
	// back. Negative: not known.
	StartDelay time.Duration
	// Tell: true if Record stores the time of this success, although it changes no health (webhook.SuccessGrain);
	// false if not.
	Tell bool
	// Excused: true if the broken outbound network of this service caused the failure, not the endpoint
	// (webhook.Health.Excused); false otherwise.
	Excused bool
}

// Plan returns the deliveries of events to the subscriptions.
type Plan func(events []ports.Event, subscriptions []Subscription) []Delivery

// RelayStore turns the events of the outbox into deliveries.
type RelayStore interface {
	// Pending reports whether the outbox has a row, and how long its first row has waited since its commit. The
	// query is cheap enough for an idle relay to repeat.
	Pending(ctx context.Context) (pending bool, waited time.Duration, err error)
	// Relay removes up to limit events from the outbox and inserts the deliveries that plan returns for them, in the
	// same transaction. plan may run again when the transaction is retried. A delivery that exists already stays
	// unchanged and is not in claims.
	//
	// Relay calls ahead, unless it is nil, once with the planned claims, before it commits them; ahead must not
	// block. A worker of this process may load such a claim, and then calls Delivery.Filed to wait for the commit.
	// To workers of other processes the delivery does not exist before the commit.
	//
	// Returns *RefusedEvents when the events themselves cannot be filed. The outbox then still holds all of them.
	Relay(ctx context.Context, limit int, lease time.Duration, plan Plan,
		ahead func([]Claim)) (relayed int, claims []Claim, err error)
	// SetAside moves an event from the outbox to the events that are set aside, with the reason. moved is true if it
	// did, and false when the outbox does not hold the event any more.
	SetAside(ctx context.Context, eventID id.ID, reason string) (moved bool, err error)
}

// RefusedEvents is the error for a group of events that cannot be filed because of at least one of them.
type RefusedEvents struct {
	Events []ports.Event
	Reason string // Why the events are refused, in a text without data of the events.
	Err    error
}

func (r *RefusedEvents) Error() string { return r.Err.Error() }

// Unwrap returns the error with which the database refused the events.
func (r *RefusedEvents) Unwrap() error { return r.Err }

// Room is how many deliveries of a subscription may be claimed.
type Room struct {
	SubscriptionID id.ID
	Room           int
}

// Due is the result of a scan for due deliveries.
type Due struct {
	Subscriptions []Subscription // The enabled subscriptions that have a due delivery, with their health.
	Urgent        bool           // true: ClaimUrgent has deliveries to claim; false: it has none.
	// The time until a delivery of another enabled subscription is due; at most the horizon of the scan.
	Next time.Duration
}

// ClaimStore finds and claims due deliveries. Only the database's clock decides what is due (delivery.md, point
// 3).
type ClaimStore interface {
	// Due finds deliveries that are due now, and those that will be due within the horizon, in a single round trip.
	Due(ctx context.Context, horizon time.Duration) (Due, error)
	// Claim leases due deliveries, oldest first, as many of each subscription as its room allows.
	Claim(ctx context.Context, rooms []Room, lease time.Duration) ([]Claim, error)
	// ClaimUrgent leases deliveries for which rooms do not count: tests, and deliveries whose lease ran out.
	// recovered is the number of the latter. The claims name their partners.
	ClaimUrgent(ctx context.Context, limit int, lease time.Duration) (claims []Claim, recovered int, err error)
	// CountClaimed counts the leased deliveries of each subscription, over all dispatchers.
	CountClaimed(ctx context.Context) (map[id.ID]int, error)
	// ExpireLeases makes all claims stale that are older than the span, except those of the deliveries in keep,
	// because the queue lost their jobs. The deliveries are due after the grace. In the grace, a POST that another
	// dispatcher began under a stale claim can end and be recorded.
	ExpireLeases(ctx context.Context, olderThan, lease, grace time.Duration, keep []id.ID) (int, error)
}

// WorkStore loads claimed deliveries for the workers and records their attempts.
type WorkStore interface {
	// Load reads claimed deliveries and the present secrets of their subscriptions, in the order of the claims.
	Load(ctx context.Context, claims []Claim) ([]Delivery, error)
	// Record writes outcomes of attempts in a transaction: a success under any claim, a failure under the newest
	// claim only. The same transaction updates the health at now of the subscriptions in adjust, with the times of
	// their last success and failure; limit is WEBHOOK_ENDPOINT_CONCURRENCY. Notices to the partner's contact are
	// stored with it (webhook.Notice). settled[i] reports whether the i-th outcome took effect.
	Record(
		ctx context.Context, outcomes []Outcome, adjust []id.ID, limit int, now time.Time,
	) (settled []bool, health map[id.ID]webhook.Health, err error)
	// Renew replaces claims by new ones, so that jobs with the old claims are stale. Claims that were stale are left
	// out of the result.
	Renew(ctx context.Context, claims []Claim, lease time.Duration) ([]Claim, error)
	// Release gives up claims. The deliveries become due at once, or are parked when their subscription is disabled.
	Release(ctx context.Context, claims []Claim) error
	// Disable disables a subscription whose attempts have all failed for webhook.DisableAfter, parks its deliveries
	// and stores a notice to the partner's contact. The store checks the condition again under a lock.
	Disable(ctx context.Context, subscriptionID id.ID) error
}
