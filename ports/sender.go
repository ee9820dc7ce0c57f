package ports

import (
	"context"

	"partnerdeposits/core/webhook"
)

// Sender POSTs to endpoints. It is the only thing in the service that dials an address a partner chose.
type Sender interface {
	// Post makes one attempt, at most WEBHOOK_TIMEOUT in all, and tells how it went; it never fails otherwise.
	// A 2xx status line in time is success whatever follows. The attempt's Number is left to the caller.
	Post(ctx context.Context, p Post) webhook.Attempt
}

// Post is one signed request.
type Post struct {
	URL       string
	Event     webhook.EventName
	EventID   string // evt_…; "" where the header is not to be sent
	Timestamp string // Unix seconds, as signed
	Signature string // sha256=<hex>
	Body      []byte
}
