package webhook

import "time"

// EndpointState is an endpoint's health in the API (api.md §2, "Health").
type EndpointState string

// The states of an endpoint, of which the last that applies counts.
const (
	EndpointHealthy EndpointState = "healthy"
	// At least one attempt at the endpoint has failed since the last success.
	EndpointFailing EndpointState = "failing"
	// The circuit of the endpoint is open or half-open, so its deliveries wait.
	EndpointHeld EndpointState = "held"
	// The subscription is disabled, by the partner or after five days of failures.
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

// MaxReportedPendingDeliveries is the largest number of pending deliveries that is stated exactly.
const MaxReportedPendingDeliveries = 10_000

// LastSuccessGranularity is how late LastSuccessAt may be, since not every success is written to the database.
const LastSuccessGranularity = 10 * time.Second

// EndpointReport is an endpoint's health as a partner reads it (api.md §2, "Health").
type EndpointReport struct {
	State         EndpointState
	Since         time.Time
	LastSuccessAt time.Time     // When an attempt at the endpoint last succeeded; zero: never.
	LastFailureAt time.Time     // When an attempt at the endpoint last failed; zero: never.
	LastError     AttemptResult // The result of the endpoint's last failed attempt; "": none has failed.
	// The number of pending deliveries, parked ones included; MaxReportedPendingDeliveries at most.
	Pending         int
	PendingCapped   bool
	OldestPendingAt time.Time // When the oldest pending delivery was created; zero: none is pending.
}

// SubscriptionWithReport is a subscription together with the report on its endpoint.
type SubscriptionWithReport struct {
	Subscription
	Health EndpointReport
}

// NewEndpointReport returns the report for a subscription that was just created.
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
