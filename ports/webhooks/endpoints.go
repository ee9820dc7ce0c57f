package webhooks

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
)

// ProbeFilter selects the failing endpoints that are to be tried at once: those that match every field that is not
// zero.
type ProbeFilter struct {
	SubscriptionID, PartnerID id.ID
	// FailedSince selects the endpoints that failed at that time or later, including those that have succeeded
	// since; zero: all that are failing now.
	FailedSince time.Time
}

// ProbeResult counts what changed when failing endpoints were to be tried at once.
type ProbeResult struct {
	Circuits   int
	Deliveries int
}

// EndpointStore reads the health of subscriptions' endpoints, and makes failing endpoints be tried at once.
type EndpointStore interface {
	EndpointReader
	EndpointProber
}

// EndpointReader reads what the last attempts at the endpoints of subscriptions showed.
type EndpointReader interface {
	Endpoints(ctx context.Context) ([]webhook.EndpointReachability, error)
}

// EndpointProber makes failing endpoints be tried again at once, in a transaction.
type EndpointProber interface {
	ProbeEndpoints(ctx context.Context, of ProbeFilter) (ProbeResult, error)
}
