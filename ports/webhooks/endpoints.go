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

type ProbeResult struct {
	Circuits   int
	Deliveries int
}

type EndpointStore interface {
	EndpointReader
	EndpointProber
}

type EndpointReader interface {
	Endpoints(ctx context.Context) ([]webhook.EndpointReachability, error)
}

type EndpointProber interface {
	ProbeEndpoints(ctx context.Context, of ProbeFilter) (ProbeResult, error)
}
