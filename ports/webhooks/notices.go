package webhooks

import (
	"context"
	"time"

	"partnerdeposits/core/webhook"
)

// NoticeSubject is a notice about a failing or recovered endpoint, with the facts that its mail needs.
type NoticeSubject struct {
	Notice  webhook.Notice
	URL     string
	Report  webhook.Report // The health of the endpoint, without the number of pending deliveries.
	Mailed  webhook.Mailed
	Contact string // The e-mail address of the partner that gets the notice.
}

// Notices turns stored notices about endpoints into mails; the notices of an endpoint and a kind become one
// mail, in one transaction.
type Notices interface {
	// Take removes the waiting notices that have the endpoint and the kind of n, and returns them as a single one,
	// with the facts about the endpoint. ok: true if a mail is due; false when another dispatcher has taken them,
	// and when the subscription is deleted or its partner has no contact.
	Take(ctx context.Context, n webhook.Notice) (about NoticeSubject, ok bool, err error)
	// PutOff stores a notice about an endpoint again, to be mailed at a later time.
	PutOff(ctx context.Context, n webhook.Notice, until time.Time) error
	// Mailing records that a notice about an endpoint is mailed in this transaction. ok: true if it may be mailed;
	// false when the last mail of its kind is younger than webhook.NoticeEvery by the database's clock.
	Mailing(ctx context.Context, n webhook.Notice) (ok bool, err error)
	// DueNotices lists up to limit due notices about endpoints, oldest first, one of each endpoint and kind: only
	// the endpoint and the kind are set.
	DueNotices(ctx context.Context, limit int) ([]webhook.Notice, error)
}
