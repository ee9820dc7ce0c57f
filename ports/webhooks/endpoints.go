package webhooks

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
)

// ProbeOf selects the failing endpoints to probe: those that match every field that is not zero.
type ProbeOf struct {
	SubscriptionID, PartnerID id.ID
	// FailedSince selects the endpoints that failed at that time or later, including those that have succeeded
	// since; zero: all that are failing now.
	FailedSince time.Time
}

// Probed counts what a probe of endpoints changed.
type Probed struct {
	Circuits   int // The number of open circuits that send a probe now.
	Deliveries int // The number of deliveries that waited for their retry and are due now.
}

// Endpoints reads and probes the endpoints of subscriptions.
type Endpoints interface {
	EndpointReader
	Prober
}

// EndpointReader reads the endpoints of subscriptions.
type EndpointReader interface {
	Endpoints(ctx context.Context) ([]webhook.Endpoint, error)
}

// Prober makes failing endpoints be tried again at once, in a transaction.
type Prober interface {
	// Probe lets the open circuits of enabled, failing endpoints send a probe now, and makes the retries of these
	// endpoints due now.
	Probe(ctx context.Context, of ProbeOf) (Probed, error)
}
