package webhook

import (
	"time"

	"partnerdeposits/core/id"
)

// State is where a delivery stands. due_at is the next attempt while Waiting and the end of the lease while Dispatched,
// so that first dispatch, retry and recovery are one scan (delivery.md, point 3).
//
//	          relay                scan                2xx
//	event ──────────▶ Waiting ──────────▶ Dispatched ──────▶ Succeeded
//	          │          ▲ ▲                │  │  │
//	          └──────────┼─┼───▶────────────┘  │  └─────────▶ Failed     (no attempt left)
//	            (room)   │ └── lease over ─────┘
//	                     └──── failed attempt
//
// A delivery of a disabled or held endpoint is parked: Waiting without a due time.
type State int16

// The states as they are stored.
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

// StatusOf folds a state and the number of attempts made into the outside status.
func StatusOf(s State, attempts int) Status {
	switch {
	case s == Succeeded:
		return StatusSucceeded
	case s == Failed || s == Cancelled:
		return StatusFailed
	case attempts > 0:
		return StatusRetrying
	default:
		return StatusPending
	}
}

// Delivery is one event on its way to one subscription.
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
	DeliveredAt    time.Time // zero: not delivered
	RedeliveryOf   id.ID     // zero: an original
	Body           []byte    // the exact bytes of every attempt; nil in lists
	BodySHA256     string    // lower-case hex
	AttemptLog     []Attempt // oldest first
}

// Result is how an attempt ended; also the label of svc_webhook_attempts_total.
type Result string

// The results of an attempt (api.md §2; operations.md, "Metrics").
const (
	ResultSuccess  Result = "success"
	ResultNon2xx   Result = "non_2xx"
	ResultTimeout  Result = "timeout"
	ResultDNS      Result = "dns"
	ResultConnect  Result = "connect"
	ResultTLS      Result = "tls"
	ResultRedirect Result = "redirect"
	ResultBlocked  Result = "blocked" // the address is not one we may dial
)

// Results lists them all.
var Results = []Result{ResultSuccess, ResultNon2xx, ResultTimeout, ResultDNS, ResultConnect, ResultTLS, ResultRedirect, ResultBlocked}

// Freshness is how old a reading of a subscription may be when a POST begins. Whoever rotates a secret, disables or
// deletes a subscription waits that long after the commit before answering, so that no POST begun after the answer
// knows the old state.
const Freshness = 500 * time.Millisecond

// MaxSnippet is how much of a response body is kept, in bytes.
const MaxSnippet = 1 << 10

// Attempt is one POST of a delivery.
type Attempt struct {
	Number         int
	StartedAt      time.Time
	Duration       time.Duration
	Result         Result
	ResponseStatus int    // 0: none came
	Snippet        string // of the response body, MaxSnippet at most
	Detail         string // what failed, in words a developer can act on; ours, without addresses of our network
	RetryAfter     time.Duration
}

// OK reports whether the receiver took the delivery.
func (a Attempt) OK() bool { return a.Result == ResultSuccess }

// Verdict is what becomes of a delivery after an attempt.
type Verdict struct {
	State State
	Wait  time.Duration // until the next attempt, while Waiting
}

// Judge decides what follows attempt. A test delivery is never retried (api.md §2).
func (s Schedule) Judge(a Attempt, test bool, random float64) Verdict {
	if a.OK() {
		return Verdict{State: Succeeded}
	}
	if test {
		return Verdict{State: Failed}
	}
	wait, ok := s.After(a.Number, a.RetryAfter, random)
	if !ok {
		return Verdict{State: Failed}
	}
	return Verdict{State: Waiting, Wait: wait}
}
