package ports

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
)

// Claim is the right to make the seq-th dispatch of a delivery, as long as its lease runs.
type Claim struct {
	DeliveryID     id.ID
	SubscriptionID id.ID
	Seq            int32
}

// Endpoint is a live subscription as the dispatcher sees it.
type Endpoint struct {
	ID        id.ID
	PartnerID id.ID
	Events    []webhook.EventName
	Enabled   bool
	Health    webhook.Health
}

// NewDelivery is one that the relay makes of an event.
type NewDelivery struct {
	ID       id.ID
	Endpoint id.ID
	Event    webhook.EventName
	Source   *Event
	Body     []byte
	State    webhook.State // Dispatched: goes out at once, with a lease; Waiting: the scan will find it
	Parked   bool          // Waiting without a due time: the endpoint is disabled
}

// RelayStore turns the outbox into deliveries.
type RelayStore interface {
	// Pending reports whether there is anything to relay: the cheap question of an idle relay.
	Pending(ctx context.Context) (bool, error)
	// Relay takes up to limit events off the outbox, lets plan say what becomes of them, and inserts the deliveries, all
	// in one transaction. plan may run again when the transaction is tried again. A delivery that exists already is
	// left as it is and not in claims.
	Relay(ctx context.Context, limit int, lease time.Duration, plan func([]Event, []Endpoint) []NewDelivery) (relayed int, claims []Claim, err error)
}

// Room is how many deliveries of an endpoint may be claimed.
type Room struct {
	SubscriptionID id.ID
	Room           int
}

// ClaimStore finds what is due. Only the database's clock decides what that is.
type ClaimStore interface {
	// Due lists the enabled endpoints that have deliveries waiting whose time has come, with their health.
	Due(ctx context.Context) ([]Endpoint, error)
	// Claim leases due deliveries, oldest first, within the room of each endpoint.
	Claim(ctx context.Context, rooms []Room, lease time.Duration) ([]Claim, error)
	// ClaimUrgent leases what does not wait for room: tests, and deliveries whose lease ran out (recovered counts those).
	ClaimUrgent(ctx context.Context, limit int, lease time.Duration) (claims []Claim, recovered int, err error)
	// UnderWay counts the leased deliveries of each endpoint, over all dispatchers.
	UnderWay(ctx context.Context) (map[id.ID]int, error)
	// ExpireLeases takes back all claims given before the span ago, but for those that are kept: the queue that carried
	// their jobs is known to be lost. They are stale at once, and due after the grace, in which a POST that another
	// dispatcher began just before can end and be recorded.
	ExpireLeases(ctx context.Context, givenBefore, lease, grace time.Duration, keep []id.ID) (int, error)
}

// Loaded is a claimed delivery as it stands just before its POST.
type Loaded struct {
	Claim
	Found     bool // false: there is no such delivery or subscription any more
	Live      bool // the claim's seq is the delivery's, and it is still dispatched
	Enabled   bool
	Healthy   bool // nothing is known against the endpoint, so a success need not be written to it
	LeaseLeft time.Duration
	Attempts  int // made before
	Test      bool
	Event     webhook.EventName
	EventID   id.ID
	EventAt   time.Time
	Body      []byte
	URL       string
	Secret    secret.Text
	ReadAt    time.Time     // our clock, when the query began
	Skew      time.Duration // what to add to our clock to get the database's
	Err       error         // the secret does not decrypt: this delivery cannot be sent now
}

// Outcome is a finished attempt with what follows from it.
type Outcome struct {
	Claim   Claim
	Event   webhook.EventName
	EventAt time.Time
	Attempt webhook.Attempt
	Verdict webhook.Verdict
	Healthy bool // as it was loaded
}

// WorkStore serves the workers.
type WorkStore interface {
	// Load reads claimed deliveries and the present secret of their subscriptions; the answer has the order of the claims.
	Load(ctx context.Context, claims []Claim) ([]Loaded, error)
	// Record commits outcomes as one group: success counts on any seq, failure only on the present one. The health of
	// the endpoints in adjust is updated in the same transaction; limit is WEBHOOK_ENDPOINT_CONCURRENCY.
	// settled[i] tells whether the i-th outcome took effect.
	Record(ctx context.Context, outcomes []Outcome, adjust []id.ID, limit int) (settled []bool, health map[id.ID]webhook.Health, err error)
	// Renew claims again what is claimed, so that a job that may or may not have reached the queue comes too late.
	Renew(ctx context.Context, claims []Claim, lease time.Duration) ([]Claim, error)
	// Release gives up claims that cannot be used: the deliveries become due again, or are parked when the endpoint is disabled.
	Release(ctx context.Context, claims []Claim) error
	// Disable ends a subscription that did nothing but fail, parks its deliveries and tells the partner's contact by
	// mail; it looks again under lock and does nothing when that is no longer so.
	Disable(ctx context.Context, subscriptionID id.ID, mailID id.ID) error
}

// Lane separates endpoints that answer from those that are slow or failing.
type Lane string

// The lanes; each has a queue and workers of its own.
const (
	FastLane Lane = "fast"
	SlowLane Lane = "slow"
)

// Lanes lists them.
var Lanes = []Lane{FastLane, SlowLane}

// Job is a hint that deliveries can go out, of any endpoints of a lane. Losing one costs time, never a delivery.
type Job struct {
	Lane   Lane
	Urgent bool // does not wait for a slot of the endpoint: tests, and what was delayed by a crash
	Claims []Claim
}

// JobQueue carries jobs to the workers of any dispatcher.
type JobQueue interface {
	// Enqueue hands over the jobs and returns those that could not be, with the reason.
	// A job that is there already counts as handed over.
	Enqueue(ctx context.Context, jobs []Job) (left []Job, err error)
	// Serve runs handle for every job until ctx ends, then waits for those under way.
	Serve(ctx context.Context, concurrency map[Lane]int, handle func(context.Context, Job)) error
	// Ping tells whether the queue's store can be reached.
	Ping(ctx context.Context) error
	// Epoch marks the store, and reports lost when an earlier mark is gone: whatever was queued then is gone too.
	Epoch(ctx context.Context) (lost bool, err error)
	// Tidy removes what the transport keeps of jobs that it gave up.
	Tidy(ctx context.Context) error
}
