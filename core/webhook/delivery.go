package webhook

import (
	"cmp"
	"slices"
	"time"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
)

// DeliveryState is the state of a delivery. Column due_at is the time of the next attempt, or while Dispatched the
// end of the lease, so that one query finds first attempts, retries and deliveries whose dispatcher died
// (delivery.md, point 3).
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

// The states of a delivery, with their numbers in the database.
const (
	DeliveryStateWaiting    DeliveryState = 0
	DeliveryStateDispatched DeliveryState = 1
	DeliveryStateSucceeded  DeliveryState = 2
	DeliveryStateFailed     DeliveryState = 3
	DeliveryStateCancelled  DeliveryState = 4 // The delivery ended because its subscription was deleted.
)

// DeliveryStates lists every state of a delivery, in the order of the stored numbers.
var DeliveryStates = []DeliveryState{DeliveryStateWaiting, DeliveryStateDispatched, DeliveryStateSucceeded,
	DeliveryStateFailed, DeliveryStateCancelled}

// DeliveryStatus is the state of a delivery in the API (api.md §2, "Delivery record").
type DeliveryStatus string

// The statuses of a webhook delivery, as the API shows them.
const (
	StatusPending   DeliveryStatus = "pending"
	StatusRetrying  DeliveryStatus = "retrying"
	StatusSucceeded DeliveryStatus = "succeeded"
	StatusFailed    DeliveryStatus = "failed"
)

// DeliveryStatusOf returns a delivery's status in the API from its state and number of finished attempts.
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
	// The delivery's last attempt failed, or the only one of a test delivery.
	FailureAttemptsExhausted FailureReason = "attempts_exhausted"
	// The delivery was parked for as long as deliveries are kept, since its subscription stayed disabled.
	FailureWebhookDisabled FailureReason = "webhook_disabled"
	FailureWebhookDeleted  FailureReason = "webhook_deleted"
)

// FailureReasons lists every reason for which a delivery failed.
var FailureReasons = []FailureReason{FailureAttemptsExhausted, FailureWebhookDisabled, FailureWebhookDeleted}

// FailureReasonOf returns why a delivery in state s failed; "" unless it failed. stored is the reason in its row,
// which is empty where the state implies it.
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

// Delivery is an event on its way to a subscription (api.md §2, "Delivery record").
type Delivery struct {
	ID             id.ID
	SubscriptionID id.ID
	EventID        id.ID
	Event          EventName
	DepositID      id.ID // The deposit that the delivery's event is about; zero for rental_operator.linked.
	Test           bool
	State          DeliveryState
	Attempts       int
	// When the next attempt of the delivery is due; zero: it is parked or has ended.
	DueAt         time.Time
	CreatedAt     time.Time
	DeliveredAt   time.Time     // When the endpoint accepted the delivery; zero: not delivered.
	FailureReason FailureReason // Why the delivery failed; "": it has not failed.
	RedeliveryOf  id.ID         // The delivery of which this is a redelivery; zero: this is the original.
	Body          []byte        // The exact bytes of the body that every attempt sends; nil in lists.
	BodySHA256    string
	AttemptLog    []Attempt
}

// AttemptResult is the result of an attempt, and a label of svc_webhook_attempts_total.
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
	ResultSecretUnreadable AttemptResult = "secret"  // No POST: the subscription's secret cannot be read.
)

// AttemptResults lists every result of an attempt to deliver a webhook.
var AttemptResults = []AttemptResult{ResultSuccess, ResultNon2xx, ResultTimeout, ResultDNSFailed, ResultConnectFailed,
	ResultTLSFailed, ResultRedirect, ResultAddressBlocked, ResultSecretUnreadable}

// MaxSubscriptionCacheAge is the greatest age of a subscription's cached settings when a POST begins. Requests that
// change a subscription are answered that long after the commit, so that no later POST uses the old settings.
const MaxSubscriptionCacheAge = 500 * time.Millisecond

// EndedLeaseGrace is how long after the end of its lease a delivery still counts as dispatched.
const EndedLeaseGrace = 10 * time.Second

// MaxTestDeliveriesInFlight is the largest number of a partner's unfinished test deliveries: few, since they
// precede all others.
const MaxTestDeliveriesInFlight = 2

// ErrTooManyTestDeliveries is the fault for a test delivery beyond MaxTestDeliveriesInFlight.
var ErrTooManyTestDeliveries = fault.ErrRateLimited.WithMessage("%d test deliveries are under way. Wait for one to end.",
	MaxTestDeliveriesInFlight).WithRetryAfter(time.Second)

// MaxResponseSnippet is the number of bytes of an endpoint's response body that are stored.
const MaxResponseSnippet = 1 << 10

// Attempt is one POST of a delivery, or the record that none was possible.
type Attempt struct {
	Number         int
	StartedAt      time.Time
	Duration       time.Duration
	Result         AttemptResult
	ResponseStatus int // The HTTP status of the endpoint's response; 0: there was none.
	Snippet        string
	// The cause of the attempt's failure, for the partner's developer, without addresses of this service's network.
	Detail string
	// The wait that the endpoint requested with status 429 or 503; 0: none.
	RetryAfter time.Duration
	// Whether the attempt timed out before a connection was made.
	Unconnected bool
	// The resource, such as a socket, that this machine lacked for a POST; "": none.
	Lacked string
	// Whether this machine has no network route to the endpoint.
	NoRoute bool
}

// WasMade reports whether an attempt was made. It is false for a delivery that was put off without a POST.
func (a Attempt) WasMade() bool { return a.Result != "" }

// Unreached reports whether the name did not resolve, no connection was made, or TLS failed.
func (a Attempt) Unreached() bool {
	return a.Unconnected || slices.Contains(unreached, a.Result)
}

// unreached lists the results of attempts that never reached the endpoint. A time-out may also happen after that.
var unreached = []AttemptResult{ResultDNSFailed, ResultConnectFailed, ResultTLSFailed}

// UnreadableSecretAttempt returns the attempt that records a delivery whose subscription's secret cannot be read.
func UnreadableSecretAttempt(at time.Time) Attempt {
	return Attempt{StartedAt: at, Result: ResultSecretUnreadable,
		Detail: "The secret of the subscription cannot be read, so nothing was sent. Rotate it."}
}

// OK reports whether the endpoint answered with a 2xx status in time.
func (a Attempt) OK() bool { return a.Result == ResultSuccess }
