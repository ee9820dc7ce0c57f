package webhook

import "time"

// EndpointState is the health of an endpoint as the API shows it (api.md §2, "Health").
type EndpointState string

// The states. The first that applies counts, from the last to the first.
const (
	EndpointHealthy  EndpointState = "healthy"
	EndpointFailing  EndpointState = "failing"  // at least one failure since the last success
	EndpointHeld     EndpointState = "held"     // the circuit is open or half-open: deliveries wait
	EndpointDisabled EndpointState = "disabled" // the subscription is disabled, by the partner or by five days of failures
)

// EndpointStates lists the states.
var EndpointStates = []EndpointState{EndpointHealthy, EndpointFailing, EndpointHeld, EndpointDisabled}

// State returns the state of the endpoint of a subscription.
func (h Health) State(enabled bool) EndpointState {
	if !enabled {
		return EndpointDisabled
	}
	if h.CircuitOpen() || h.Ramp > 0 {
		return EndpointHeld
	}
	if h.Failures > 0 {
		return EndpointFailing
	}
	return EndpointHealthy
}

// MaxPending is the largest number of pending deliveries that a report states exactly.
const MaxPending = 10_000

// SuccessGrain is how old LastSuccessAt of a report may be while an endpoint succeeds: an endpoint in good health is
// not written with each success.
const SuccessGrain = 10 * time.Second

// Report is the health of an endpoint as a partner reads it (api.md §2, "Health").
type Report struct {
	State           EndpointState
	Since           time.Time // when the state began
	LastSuccessAt   time.Time // zero: none yet
	LastFailureAt   time.Time // zero: none yet
	LastError       Result    // of the last failure; "": none yet
	Pending         int       // deliveries that have not ended, parked ones too; MaxPending at most
	PendingCapped   bool      // more than MaxPending deliveries are pending
	OldestPendingAt time.Time // when the oldest of them was created; zero: none
}

// Reported is a subscription with the report of its endpoint.
type Reported struct {
	Subscription
	Health Report
}

// NewReport is the report of a subscription that was just created.
func NewReport(s Subscription) Report {
	return Report{State: Health{}.State(s.Enabled), Since: s.CreatedAt}
}

// WithPending returns the report with n pending deliveries, of which the oldest was created at the time.
func (r Report) WithPending(n int, oldest time.Time) Report {
	r.Pending, r.PendingCapped, r.OldestPendingAt = min(n, MaxPending), n > MaxPending, oldest
	return r
}
