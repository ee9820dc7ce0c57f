package webhook

import (
	"cmp"
	"slices"
	"time"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
)

// DeliveryState is the state of a delivery. Column due_at is the time of the next attempt while Waiting. While
// Dispatched it is the end of the lease, the time for which a dispatcher has the delivery. So a single query, the
// scan, finds first attempts, retries and deliveries whose dispatcher died (delivery.md, point 3). The relay makes the
// deliveries; it dispatches one at once if its endpoint may get one more (room).
//
//	          relay                scan                2xx
//	event ──────────▶ Waiting ──────────▶ Dispatched ──────▶ Succeeded
//	          │          ▲ ▲                │  │  │
//	          └──────────┼─┼───▶────────────┘  │  └─────────▶ Failed     (no attempt left)
//	            (room)   │ └── lease ended ────┘
//	                     └──── failed attempt
//
// A delivery of a disabled subscription is parked: Waiting without a due time.
type DeliveryState int16

// The states of a delivery, with the numbers that the database column state holds.
const (
	DeliveryStateWaiting    DeliveryState = 0
	DeliveryStateDispatched DeliveryState = 1
	DeliveryStateSucceeded  DeliveryState = 2
	DeliveryStateFailed     DeliveryState = 3
	DeliveryStateCancelled  DeliveryState = 4 // The delivery ended without success because its subscription was deleted.
)

// DeliveryStates lists every state of a delivery, in the order of the stored numbers.
var DeliveryStates = []DeliveryState{DeliveryStateWaiting, DeliveryStateDispatched, DeliveryStateSucceeded,
	DeliveryStateFailed, DeliveryStateCancelled}

// DeliveryStatus is the state of a delivery as the API shows it (api.md §2, "Delivery record").
type DeliveryStatus string

// The statuses of a webhook delivery, as the API shows them.
const (
	StatusPending   DeliveryStatus = "pending"
	StatusRetrying  DeliveryStatus = "retrying"
	StatusSucceeded DeliveryStatus = "succeeded"
	StatusFailed    DeliveryStatus = "failed"
)

// DeliveryStatusOf returns the status that the API shows for a delivery in state s with that many finished attempts.
func DeliveryStatusOf(s DeliveryState, attempts int) DeliveryStatus {
	switch s {
	case DeliveryStateSucceeded:
		return StatusSucceeded
	case DeliveryStateFailed, DeliveryStateCancelled:
		return StatusFailed
	case DeliveryStateWaiting, DeliveryStateDispatched:
	}
	if attempts > 0 {
		return StatusRetrying
	}
	return StatusPending
}

// FailureReason says why a delivery failed (api.md §2, "Delivery record").
type FailureReason string

// The reasons for which a delivery of a webhook failed.
const (
	// The last attempt of the retry schedule failed, or the only attempt of a test delivery.
	FailureAttemptsExhausted FailureReason = "attempts_exhausted"
	// The delivery was parked for as long as deliveries are kept, since its subscription stayed disabled.
	FailureWebhookDisabled FailureReason = "webhook_disabled"
	FailureWebhookDeleted  FailureReason = "webhook_deleted"
)

// FailureReasons lists every reason for which a delivery failed.
var FailureReasons = []FailureReason{FailureAttemptsExhausted, FailureWebhookDisabled, FailureWebhookDeleted}

// FailureReasonOf returns why a delivery in state s failed; "" unless it failed. stored is the reason in the delivery's
// row, which is empty where the state implies the reason.
func FailureReasonOf(s DeliveryState, stored FailureReason) FailureReason {
	switch s {
	case DeliveryStateCancelled:
		return FailureWebhookDeleted
	case DeliveryStateFailed:
		return cmp.Or(stored, FailureAttemptsExhausted)
	case DeliveryStateWaiting, DeliveryStateDispatched, DeliveryStateSucceeded:
	}
	return ""
}

// Delivery is an event on its way to a subscription, with its state and attempts (api.md §2, "Delivery record").
type Delivery struct {
	ID             id.ID
	SubscriptionID id.ID
	EventID        id.ID
	Event          EventName
	DepositID      id.ID // The deposit that the delivery's event is about; zero for rental_operator.linked.
	Test           bool
	State          DeliveryState
	Attempts       int
	// When the next attempt of the delivery is due; zero: the delivery is parked or has ended.
	DueAt         time.Time
	CreatedAt     time.Time
	DeliveredAt   time.Time     // When the endpoint accepted the delivery; zero: not delivered.
	FailureReason FailureReason // Why the delivery failed; "": it has not failed, or not yet.
	RedeliveryOf  id.ID         // The delivery of which this is a redelivery; zero: this is the original.
	Body          []byte        // The exact bytes of the body that every attempt sends; nil in lists.
	BodySHA256    string        // The SHA-256 of the delivery's body in lower-case hex.
	AttemptLog    []Attempt     // The attempts of the delivery, oldest first.
}

// AttemptResult is the result of an attempt to deliver a webhook. It is also a label of the metric
// svc_webhook_attempts_total.
type AttemptResult string

// The results of an attempt to deliver a webhook (api.md §2; metrics.md, "Names").
const (
	ResultSuccess          AttemptResult = "success"
	ResultNon2xx           AttemptResult = "non_2xx"
	ResultTimeout          AttemptResult = "timeout"
	ResultDNSFailed        AttemptResult = "dns"
	ResultConnectFailed    AttemptResult = "connect"
	ResultTLSFailed        AttemptResult = "tls"
	ResultRedirect         AttemptResult = "redirect"
	ResultAddressBlocked   AttemptResult = "blocked" // No POST was sent, since the endpoint's address is not public.
	ResultSecretUnreadable AttemptResult = "secret"  // No POST was sent, since the subscription's secret cannot be read.
)

// AttemptResults lists every result of an attempt to deliver a webhook.
var AttemptResults = []AttemptResult{ResultSuccess, ResultNon2xx, ResultTimeout, ResultDNSFailed, ResultConnectFailed,
	ResultTLSFailed, ResultRedirect,
	ResultAddressBlocked, ResultSecretUnreadable}

// MaxSubscriptionCacheAge is the greatest age of a subscription's cached settings when a POST to its endpoint begins. A
// request that rotates a secret, or disables or deletes a subscription, is answered that long after its commit,
// so no POST that begins after the response uses the old settings.
const MaxSubscriptionCacheAge = 500 * time.Millisecond

// EndedLeaseGrace is how long a delivery still counts as dispatched after the lease of its dispatcher has ended. By
// that time another dispatcher has taken the delivery over.
const EndedLeaseGrace = 10 * time.Second

// MaxTestDeliveriesInFlight is the largest number of a partner's unfinished test deliveries. It is small, since test
// deliveries are sent before all others.
const MaxTestDeliveriesInFlight = 2

// ErrTooManyTestDeliveries is the fault for a test delivery beyond MaxTestDeliveriesInFlight.
var ErrTooManyTestDeliveries = fault.ErrRateLimited.WithMessage("%d test deliveries are under way. Wait for one to end.",
	MaxTestDeliveriesInFlight).WithRetryAfter(time.Second)

// MaxResponseSnippet is the number of bytes of an endpoint's response body that are stored.
const MaxResponseSnippet = 1 << 10

// Attempt is one POST of a delivery, or the record that no POST was possible, as without a readable secret.
type Attempt struct {
	Number         int
	StartedAt      time.Time
	Duration       time.Duration
	Result         AttemptResult
	ResponseStatus int    // The HTTP status of the endpoint's response; 0: there was no response.
	Snippet        string // The beginning of the endpoint's response body, at most MaxResponseSnippet bytes.
	// The cause of the attempt's failure, for the partner's developer; it contains no address of this service's
	// network.
	Detail string
	// The wait that the endpoint requested in its response with status 429 or 503; 0: none.
	RetryAfter time.Duration
	// true: the attempt to deliver timed out before a connection was made; false: it did not.
	Unconnected bool
	// The resource, such as a socket, that this machine lacked, so that no POST was made; "": none.
	Lacked string
	// true: this machine has no network route to the endpoint's address; false: it has one.
	NoRoute bool
}

// WasMade reports whether an attempt was made to send a delivery. It is false for a delivery that was put off
// without a POST.
func (a Attempt) WasMade() bool { return a.Result != "" }

// Unreached reports whether the endpoint was not reached: its name did not resolve, no connection was made, or TLS
// failed.
func (a Attempt) Unreached() bool {
	return a.Unconnected || slices.Contains(unreached, a.Result)
}

// unreached lists the results of attempts that never reached the endpoint. A time-out is not listed, since it
// may also happen after the endpoint was reached.
var unreached = []AttemptResult{ResultDNSFailed, ResultConnectFailed, ResultTLSFailed}

// UnreadableSecretAttempt returns the attempt that records a delivery whose subscription's secret cannot be read.
func UnreadableSecretAttempt(at time.Time) Attempt {
	return Attempt{StartedAt: at, Result: ResultSecretUnreadable,
		Detail: "The secret of the subscription cannot be read, so nothing was sent. Rotate it."}
}

// OK reports whether the endpoint answered the attempt with a 2xx status in time.
func (a Attempt) OK() bool { return a.Result == ResultSuccess }
