package webhook

import "time"

// EndpointState is the health of an endpoint as the API shows it (api.md §2, "Health").
type EndpointState string

// The states of an endpoint. If several apply, the last in this list counts.
const (
	EndpointHealthy EndpointState = "healthy"
	// At least one attempt at the endpoint has failed since the last success.
	EndpointFailing EndpointState = "failing"
	// The circuit of the endpoint is open or half-open, so its deliveries wait.
	EndpointHeld EndpointState = "held"
	// The endpoint's subscription is disabled, by the partner or after five days of failures.
	EndpointDisabled EndpointState = "disabled"
)

// EndpointStates lists every state of an endpoint.
var EndpointStates = []EndpointState{EndpointHealthy, EndpointFailing, EndpointHeld, EndpointDisabled}

// State returns the state of an endpoint from its health and from whether its subscription is enabled.
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

// MaxPending is the largest number of pending deliveries that a report on an endpoint states exactly.
const MaxPending = 10_000

// SuccessGrain is how old LastSuccessAt of a report may be while an endpoint succeeds: not every success of a
// healthy endpoint is written to the database.
const SuccessGrain = 10 * time.Second

// Report is the health of an endpoint as a partner reads it (api.md §2, "Health").
type Report struct {
	State         EndpointState
	Since         time.Time // When the endpoint's present state began.
	LastSuccessAt time.Time // When an attempt at the endpoint last succeeded; zero: never.
	LastFailureAt time.Time // When an attempt at the endpoint last failed; zero: never.
	LastError     Result    // The result of the last failed attempt at the endpoint; "": none has failed.
	// The number of the endpoint's pending deliveries, parked ones included; MaxPending at most.
	Pending int
	// true: the endpoint has more than MaxPending pending deliveries; false: their number is exact.
	PendingCapped   bool
	OldestPendingAt time.Time // When the endpoint's oldest pending delivery was created; zero: none is pending.
}

// Reported is a subscription together with the report on its endpoint.
type Reported struct {
	Subscription
	Health Report
}

// NewReport returns the report on the endpoint of a subscription that was just created.
func NewReport(s Subscription) Report {
	return Report{State: Health{}.State(s.Enabled), Since: s.CreatedAt}
}

// WithPending returns the report with n pending deliveries, of which the oldest was created at the time oldest.
func (r Report) WithPending(n int, oldest time.Time) Report {
	r.Pending, r.PendingCapped, r.OldestPendingAt = min(n, MaxPending), n > MaxPending, oldest
	return r
}
