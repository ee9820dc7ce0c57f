package webhooks

import (
	"context"
	"time"

	"partnerdeposits/core/webhook"
)

// NoticeSubject is a notice with its endpoint.
type NoticeSubject struct {
	Notice  webhook.Notice
	URL     string
	Report  webhook.Report // without the pending deliveries
	Mailed  webhook.Mailed
	Contact string // the partner's contact e-mail
}

// Notices turns notices into mails, each endpoint and kind in a transaction.
type Notices interface {
	// Take removes the notices of n's endpoint and kind, and gives them as a single one, with what is known of the
	// endpoint. ok is false when another dispatcher has taken them, and when the subscription is deleted or its partner
	// has no contact: then nobody is to be told.
	Take(ctx context.Context, n webhook.Notice) (about NoticeSubject, ok bool, err error)
	// PutOff adds the notice again, to be looked at later.
	PutOff(ctx context.Context, n webhook.Notice, until time.Time) error
	// Mailing notes that the notice is mailed in this transaction. ok is false when a mail of its kind is younger than
	// webhook.NoticeEvery by the database's clock.
	Mailing(ctx context.Context, n webhook.Notice) (ok bool, err error)
	// DueNotices lists up to limit of them, oldest first, one of each endpoint and kind: only the endpoint and the kind
	// are set.
	DueNotices(ctx context.Context, limit int) ([]webhook.Notice, error)
}
