package webhooks

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
)

// ProbeOf selects failing endpoints: those that match every field that is not zero.
type ProbeOf struct {
	SubscriptionID, PartnerID id.ID
	// FailedSince selects the endpoints that failed at that time or later, those too that have succeeded since; zero:
	// all that fail.
	FailedSince time.Time
}

// Probed counts what a probe changed.
type Probed struct {
	Circuits   int // open ones, which send a probe now
	Deliveries int // waiting for their retry, which are due now
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

// Prober probes endpoints, in a transaction.
type Prober interface {
	// Probe lets the open circuits of enabled, failing endpoints send a probe now, and makes the retries of these
	// endpoints due now.
	Probe(ctx context.Context, of ProbeOf) (Probed, error)
}
