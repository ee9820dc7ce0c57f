package webhooks

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
)

// The data of a delivery, in the order in which they appear:
//
//	Event     the fact, an outbox row
//	Delivery  the event for one subscription
//	Claim     the right to make the next dispatch of a delivery
//	Job       claims on their way to a worker
//	Attempt   the result of a POST (webhook.Attempt)
//	Outcome   the attempt with its consequence for the delivery

// Subscription is a live webhook subscription, as far as the dispatcher needs it.
type Subscription struct {
	ID        id.ID
	PartnerID id.ID
	Events    []webhook.EventName
	Enabled   bool
	Health    webhook.Health
	Held      webhook.Held
}

// Delivery is an event for one subscription. The relay plans it. Load reads the delivery again just before each POST.
type Delivery struct {
	Claim     // Seq is set by the store
	EventID   id.ID
	Event     webhook.EventName
	EventAt   time.Time // commit of the event
	DepositID id.ID     // planned, not loaded; zero for rental_operator.linked
	Body      []byte
	State     webhook.State // planned: Dispatched starts with a lease; Waiting is found by the scan
	Parked    bool          // planned: Waiting without a due time, because the subscription is disabled
	// TraceParent is the parent span of the attempts, as a W3C traceparent; "" without traces. RequestID is the request
	// that made the change; "" for a change by a timer or an admin command. Both are planned and loaded.
	TraceParent, RequestID string

	// Set by Load.
	Found     bool         // false: the delivery or its subscription is deleted, and nothing else is set
	Current   bool         // the claim is the delivery's newest, and the delivery is still Dispatched
	Enabled   bool         // the subscription's
	Healthy   bool         // the subscription's health is clean, and a success does not change it
	Held      webhook.Held // the subscription's
	LeaseLeft time.Duration
	Attempts  int // finished ones
	Test      bool
	URL       string
	Standard  bool // the subscription's
	Secret    secret.Text
	LoadErr   error // the query failed; set by the dispatcher
	// Filed waits for the commit of the relay that made the claim, and reports whether the claim was committed; nil: it
	// was, before the load.
	Filed     func() bool
	SecretErr error         // the secret does not decrypt, or the keyset is refused; the delivery cannot be signed
	ReadAt    time.Time     // this process's clock, before the query
	Skew      time.Duration // the database's clock minus this process's
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
	Seq            int32 // counts up from 1
	// DueAt is when the delivery became due, by the database's clock: for a delivery that the relay claims the commit
	// of its event, for others the due time before the claim. Zero: not known, since an older dispatcher sent the job.
	DueAt time.Time
	// PartnerID is the owner of the subscription, set by ClaimUrgent and for jobs. Zero: not known, since the store that
	// made the claim, or the older dispatcher that sent the job, does not tell.
	PartnerID id.ID
	// Requested: a partner asked for the delivery, by a test, a redelivery or a replay.
	Requested bool
}

// Outcome is a finished attempt and its consequence. An outcome without an attempt (webhook.Attempt.Made) puts the
// delivery off.
type Outcome struct {
	Delivery *Delivery // as loaded
	Attempt  webhook.Attempt
	Verdict  webhook.Verdict
	// StartDelay is the time from due to the POST, without the time in which the endpoint itself held its deliveries
	// back. Negative: not known.
	StartDelay time.Duration
	// Tell has Record note the time of this success, which changes no health (webhook.SuccessGrain).
	Tell bool
	// Excused says that the failure is that of our own way out (webhook.Health.Excused).
	Excused bool
}

// Plan gives the deliveries of events.
type Plan func(events []ports.Event, subscriptions []Subscription) []Delivery

// RelayStore turns the outbox into deliveries.
type RelayStore interface {
	// Pending reports whether the outbox has a row, and how long its first row has waited since its commit. The query is
	// cheap enough for an idle relay to repeat.
	Pending(ctx context.Context) (pending bool, waited time.Duration, err error)
	// Relay removes up to limit events from the outbox and inserts the deliveries that plan returns for them, in the
	// same transaction. plan may run again when the transaction is retried. A delivery that exists already stays
	// unchanged and is not in claims.
	//
	// Relay calls ahead, unless it is nil, once with the planned claims, before it commits them; ahead must not block. A
	// worker of this process may load such a claim, and then calls Delivery.Filed to wait for the commit. To workers of
	// other processes the delivery does not exist before the commit.
	//
	// Returns *RefusedEvents when the events themselves cannot be filed. The outbox then holds all of them still.
	Relay(ctx context.Context, limit int, lease time.Duration, plan Plan,
		ahead func([]Claim)) (relayed int, claims []Claim, err error)
	// SetAside moves an event from the outbox to the events that are set aside, with the reason. moved is false when
	// the outbox holds the event no more.
	SetAside(ctx context.Context, eventID id.ID, reason string) (moved bool, err error)
}

// RefusedEvents says that a group of events cannot be filed because of at least one of them.
type RefusedEvents struct {
	Events []ports.Event
	Reason string // without data of the events
	Err    error
}

func (r *RefusedEvents) Error() string { return r.Err.Error() }

// Unwrap gives the refusal.
func (r *RefusedEvents) Unwrap() error { return r.Err }

// Room is how many deliveries of a subscription may be claimed.
type Room struct {
	SubscriptionID id.ID
	Room           int
}

// Due is the result of a look at the deliveries.
type Due struct {
	Subscriptions []Subscription // enabled ones that have a due delivery, with their health
	Urgent        bool           // ClaimUrgent has deliveries to claim
	Next          time.Duration  // until a delivery of another enabled subscription is due; the horizon at most
}

// ClaimStore finds due deliveries. Only the database's clock decides what is due (delivery.md, point 3).
type ClaimStore interface {
	// Due looks for deliveries that are due now, and for those that will be due within the horizon. It is a single
	// round trip.
	Due(ctx context.Context, horizon time.Duration) (Due, error)
	// Claim leases due deliveries, oldest first, within the room of each subscription.
	Claim(ctx context.Context, rooms []Room, lease time.Duration) ([]Claim, error)
	// ClaimUrgent leases deliveries that need no room: tests, and deliveries whose lease ran out. recovered counts the
	// latter. The claims name their partners.
	ClaimUrgent(ctx context.Context, limit int, lease time.Duration) (claims []Claim, recovered int, err error)
	// CountClaimed counts the leased deliveries of each subscription, over all dispatchers.
	CountClaimed(ctx context.Context) (map[id.ID]int, error)
	// ExpireLeases makes all claims stale that are older than the span, except those of the deliveries in keep, because
	// the queue lost their jobs. The deliveries are due after the grace. In the grace, a POST that another dispatcher
	// began under a stale claim can end and be recorded.
	ExpireLeases(ctx context.Context, olderThan, lease, grace time.Duration, keep []id.ID) (int, error)
}

// WorkStore serves the workers.
type WorkStore interface {
	// Load reads claimed deliveries and the present secrets of their subscriptions, in the order of the claims.
	Load(ctx context.Context, claims []Claim) ([]Delivery, error)
	// Record writes outcomes in a transaction: a success under any claim, a failure under the newest claim only. The
	// same transaction updates the health at now of the subscriptions in adjust, with the times of their last success
	// and failure; limit is WEBHOOK_ENDPOINT_CONCURRENCY. Notices to the partner's contact are stored with it
	// (webhook.Notice). settled[i] reports whether the i-th outcome took effect.
	Record(
		ctx context.Context, outcomes []Outcome, adjust []id.ID, limit int, now time.Time,
	) (settled []bool, health map[id.ID]webhook.Health, err error)
	// Renew replaces claims by new ones, so that jobs with the old claims are stale. Claims that were stale are left
	// out.
	Renew(ctx context.Context, claims []Claim, lease time.Duration) ([]Claim, error)
	// Release gives up claims. The deliveries become due at once, or are parked when their subscription is disabled.
	Release(ctx context.Context, claims []Claim) error
	// Disable disables a subscription whose attempts have all failed for webhook.DisableAfter, parks its deliveries and
	// stores a notice to the partner's contact. The store checks the condition again under a lock.
	Disable(ctx context.Context, subscriptionID id.ID) error
}
