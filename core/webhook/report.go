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

// MaxReportedPendingDeliveries is the largest number of pending deliveries that a report on an endpoint states exactly.
const MaxReportedPendingDeliveries = 10_000

// LastSuccessGranularity is how old LastSuccessAt of a report may be while an endpoint succeeds: not every success of a
// healthy endpoint is written to the database.
const LastSuccessGranularity = 10 * time.Second

// EndpointReport is the health of an endpoint as a partner reads it (api.md §2, "Health").
type EndpointReport struct {
	State         EndpointState
	Since         time.Time     // When the endpoint's present state began.
	LastSuccessAt time.Time     // When an attempt at the endpoint last succeeded; zero: never.
	LastFailureAt time.Time     // When an attempt at the endpoint last failed; zero: never.
	LastError     AttemptResult // The result of the last failed attempt at the endpoint; "": none has failed.
	// The number of the endpoint's pending deliveries, parked ones included; MaxReportedPendingDeliveries at most.
	Pending int
	// true: the endpoint has more than MaxReportedPendingDeliveries pending deliveries; false: their number is exact.
	PendingCapped   bool
	OldestPendingAt time.Time // When the endpoint's oldest pending delivery was created; zero: none is pending.
}

// SubscriptionWithReport is a subscription together with the report on its endpoint.
type SubscriptionWithReport struct {
	Subscription
	Health EndpointReport
}

// NewEndpointReport returns the report on the endpoint of a subscription that was just created.
func NewEndpointReport(s Subscription) EndpointReport {
	return EndpointReport{State: Health{}.State(s.Enabled), Since: s.CreatedAt}
}

// WithPendingDeliveries returns the report with n pending deliveries, of which the oldest was created at the time
// oldest.
func (r EndpointReport) WithPendingDeliveries(n int, oldest time.Time) EndpointReport {
	r.Pending, r.PendingCapped, r.OldestPendingAt = min(n, MaxReportedPendingDeliveries),
		n > MaxReportedPendingDeliveries, oldest
	return r
}
