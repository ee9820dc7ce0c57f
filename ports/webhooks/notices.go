package webhooks

import (
	"context"
	"time"

	"partnerdeposits/core/webhook"
)

// NoticeSubject is a notice about an endpoint with the facts that its mail needs.
type NoticeSubject struct {
	Notice  webhook.Notice
	URL     string
	Report  webhook.Report // The health report of the endpoint, without the number of pending deliveries.
	Mailed  webhook.Mailed
	Contact string // The contact e-mail address of the partner.
}

// Notices turns notices about endpoints into mails, those of each endpoint and kind in one transaction.
type Notices interface {
	// Take removes the notices of n's endpoint and kind, and returns them as a single one, with the facts about the
	// endpoint. ok is true if it did. ok is false when another dispatcher has taken them, and when the subscription
	// is deleted or its partner has no contact, so that no mail is sent.
	Take(ctx context.Context, n webhook.Notice) (about NoticeSubject, ok bool, err error)
	// PutOff stores a notice again, to be handled at a later time.
	PutOff(ctx context.Context, n webhook.Notice, until time.Time) error
	// Mailing records that a notice is mailed in this transaction. ok is true if it may be, and false when a mail of
	// its kind is younger than webhook.NoticeEvery by the database's clock.
	Mailing(ctx context.Context, n webhook.Notice) (ok bool, err error)
	// DueNotices lists up to limit due notices, oldest first, one of each endpoint and kind: only the endpoint and
	// the kind are set.
	DueNotices(ctx context.Context, limit int) ([]webhook.Notice, error)
}
