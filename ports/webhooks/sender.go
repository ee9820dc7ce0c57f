package webhooks

import (
	"context"
	"time"

	"partnerdeposits/core/webhook"
)

// Sender sends deliveries by POST. No other part of the service dials an address that a partner chose.
type Sender interface {
	// Post makes an attempt to send a delivery, in WEBHOOK_TIMEOUT at most, and returns its result; the caller
	// sets its Number. The request is signed with the delivery's secret for the time signedAt. A 2xx status line
	// in time is a success (delivery.md, point 5).
	Post(ctx context.Context, d *Delivery, signedAt time.Time) webhook.Attempt
}
