package webhook

import (
	"cmp"
	"slices"
	"time"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
)

// State is the state of a delivery. Column due_at is the time of the next attempt while Waiting and the end of the
// lease while Dispatched, so a single scan finds first dispatches, retries and lost claims (delivery.md, point 3).
//
//	          relay                scan                2xx
//	event ──────────▶ Waiting ──────────▶ Dispatched ──────▶ Succeeded
//	          │          ▲ ▲                │  │  │
//	          └──────────┼─┼───▶────────────┘  │  └─────────▶ Failed     (no attempt left)
//	            (room)   │ └── lease ended ────┘
//	                     └──── failed attempt
//
// A delivery of a disabled subscription is parked: Waiting without a due time.
type State int16

// The states, with the values of column state.
const (
	Waiting    State = 0
	Dispatched State = 1
	Succeeded  State = 2
	Failed     State = 3
	Cancelled  State = 4 // the subscription was deleted
)

// States lists every state, in the order of the stored numbers.
var States = []State{Waiting, Dispatched, Succeeded, Failed, Cancelled}

// Status is the state as the API shows it (api.md §2, "Delivery record").
type Status string

// The statuses of a delivery record.
const (
	StatusPending   Status = "pending"
	StatusRetrying  Status = "retrying"
	StatusSucceeded Status = "succeeded"
	StatusFailed    Status = "failed"
)

// StatusOf returns the status of a delivery in state s with that many finished attempts.
func StatusOf(s State, attempts int) Status {
	switch s {
	case Succeeded:
		return StatusSucceeded
	case Failed, Cancelled:
		return StatusFailed
	case Waiting, Dispatched:
	}
	if attempts > 0 {
		return StatusRetrying
	}
	return StatusPending
}

// FailureReason says why a delivery failed (api.md §2, "Delivery record").
type FailureReason string

// The reasons for a failed delivery.
const (
	// the last attempt of the schedule failed, or the only one of a test
	AttemptsExhausted FailureReason = "attempts_exhausted"
	WebhookDisabled   FailureReason = "webhook_disabled" // parked for as long as deliveries are kept
	WebhookDeleted    FailureReason = "webhook_deleted"
)

// FailureReasons lists every reason for a failed delivery.
var FailureReasons = []FailureReason{AttemptsExhausted, WebhookDisabled, WebhookDeleted}

// FailureOf returns the reason of a delivery in state s; "" unless the delivery failed. stored is the reason in the
// delivery's row, which is empty where the state implies the reason.
func FailureOf(s State, stored FailureReason) FailureReason {
	switch s {
	case Cancelled:
		return WebhookDeleted
	case Failed:
		return cmp.Or(stored, AttemptsExhausted)
	case Waiting, Dispatched, Succeeded:
	}
	return ""
}

// Delivery is the record of an event for a subscription (api.md §2, "Delivery record").
type Delivery struct {
	ID             id.ID
	SubscriptionID id.ID
	EventID        id.ID
	Event          EventName
	DepositID      id.ID // zero for rental_operator.linked
	Test           bool
	State          State
	Attempts       int
	DueAt          time.Time // zero: parked or finished
	CreatedAt      time.Time
	DeliveredAt    time.Time     // zero: not delivered
	FailureReason  FailureReason // "": not failed
	RedeliveryOf   id.ID         // zero: an original
	Body           []byte        // the exact bytes of every attempt; nil in lists
	BodySHA256     string        // lower-case hex
	AttemptLog     []Attempt     // oldest first
}

// Result is the result of an attempt, also a label of svc_webhook_attempts_total.
type Result string

// The results of an attempt (api.md §2; metrics.md, "Names").
const (
	ResultSuccess  Result = "success"
	ResultNon2xx   Result = "non_2xx"
	ResultTimeout  Result = "timeout"
	ResultDNS      Result = "dns"
	ResultConnect  Result = "connect"
	ResultTLS      Result = "tls"
	ResultRedirect Result = "redirect"
	ResultBlocked  Result = "blocked" // the address is not public
	ResultSecret   Result = "secret"  // nothing was sent: the subscription's secret cannot be read
)

// Results lists the results of an attempt.
var Results = []Result{ResultSuccess, ResultNon2xx, ResultTimeout, ResultDNS, ResultConnect, ResultTLS, ResultRedirect,
	ResultBlocked, ResultSecret}

// Freshness is the greatest age of the loaded subscription when a POST begins. A request that rotates a secret,
// disables or deletes a subscription is answered that long after its commit. So no POST that begins after the response
// uses the old state.
const Freshness = 500 * time.Millisecond

// ClaimCounts is how long a delivery counts as dispatched after its lease has ended: by then a scan has taken it.
const ClaimCounts = 10 * time.Second

// MaxTestsInFlight is how many test deliveries of a partner may be under way: they go out before other deliveries.
const MaxTestsInFlight = 2

// ErrTestsInFlight is the fault of a test beyond MaxTestsInFlight.
var ErrTestsInFlight = fault.ErrRateLimited.WithMessage("%d test deliveries are under way. Wait for one to end.",
	MaxTestsInFlight).WithRetryAfter(time.Second)

// MaxSnippet is how much of a response body is kept, in bytes.
const MaxSnippet = 1 << 10

// Attempt is a POST of a delivery, or the lack of a secret to sign it with.
type Attempt struct {
	Number         int
	StartedAt      time.Time
	Duration       time.Duration
	Result         Result
	ResponseStatus int           // 0: no response
	Snippet        string        // of the response body, MaxSnippet bytes at most
	Detail         string        // the cause of a failure for the partner's developer, without addresses of our network
	RetryAfter     time.Duration // from a 429 or 503; 0: not given
	Unconnected    bool          // a time-out that ended before a connection stood
	Lacked         string        // what our machine had run out of, so that there was no POST; "": nothing
	NoRoute        bool          // our machine has no way to the endpoint's address
}

// Made reports whether there was an attempt. A delivery that was put off has none.
func (a Attempt) Made() bool { return a.Result != "" }

// Unreached reports whether the endpoint was not reached: its name did not resolve, no connection came about, or TLS
// failed.
func (a Attempt) Unreached() bool {
	return a.Unconnected || slices.Contains(unreached, a.Result)
}

// unreached lists the results of attempts that never reached the endpoint; a time-out may have been another.
var unreached = []Result{ResultDNS, ResultConnect, ResultTLS}

// Unsigned is the attempt of a delivery whose subscription's secret cannot be read.
func Unsigned(at time.Time) Attempt {
	return Attempt{StartedAt: at, Result: ResultSecret,
		Detail: "The secret of the subscription cannot be read, so nothing was sent. Rotate it."}
}

// OK reports whether the endpoint answered with a 2xx in time.
func (a Attempt) OK() bool { return a.Result == ResultSuccess }
