package webhooks

import (
	"context"
	"time"

	"partnerdeposits/core/webhook"
)

// NoticeMailData is a notice about a failing or recovered endpoint, with the facts that its mail needs.
type NoticeMailData struct {
	Notice  webhook.Notice
	URL     string
	Report  webhook.EndpointReport
	Mailed  webhook.LastMailTimes
	Contact string
}

// EndpointNoticeStore turns stored notices about endpoints into mails; the notices of an endpoint and a kind become one
// mail, in a single transaction.
type EndpointNoticeStore interface {
	// Take removes the waiting notices that have the endpoint and the kind of n, and returns them as a single one,
	// with the facts about the endpoint. ok reports whether a mail is due.
	Take(ctx context.Context, n webhook.Notice) (about NoticeMailData, ok bool, err error)
	Postpone(ctx context.Context, n webhook.Notice, until time.Time) error
	// RecordMailing records that a notice about an endpoint is mailed in this transaction. ok: false when the last
	// mail of its kind is younger than webhook.MinNoticeInterval by the database's clock.
	RecordMailing(ctx context.Context, n webhook.Notice) (ok bool, err error)
	// DueNotices lists up to limit due notices about endpoints, oldest first, one of each endpoint and kind: only
	// the endpoint and the kind are set.
	DueNotices(ctx context.Context, limit int) ([]webhook.Notice, error)
}
