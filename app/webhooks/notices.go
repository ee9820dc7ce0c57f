package webhooks

import (
	"context"
	"sync/atomic"
	"time"

	"partnerdeposits/app/platform/mails"
	"partnerdeposits/app/platform/schedules"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// EndpointNoticeMailer mails the contacts of partners about the health of their endpoints (api.md §5, "Notices").
type EndpointNoticeMailer struct {
	Notices    webhookports.EndpointNoticeStore
	Mails      ports.MailQueue
	Endpoints  webhookports.EndpointReader
	UnitOfWork ports.UnitOfWork
	Clock      ports.Clock
	Entropy    ports.Entropy
	APIBaseURL string
}

// ScheduledJob returns the job that mails notices about endpoints. A notice that fails is tried again in the next
// round and delays no other.
func (n EndpointNoticeMailer) ScheduledJob(every time.Duration) schedules.Job {
	// When this service's own internet connection was last found broken; zero: never.
	var broken atomic.Pointer[time.Time]
	broken.Store(&time.Time{})
	return schedules.Job{Name: "notices", Every: every, Run: func(ctx context.Context) (bool, error) {
		endpoints, err := n.Endpoints.Endpoints(ctx)
		if err != nil {
			return false, err
		}
		if now := n.Clock.Now(); !webhook.OutboundBrokenSince(endpoints, now).IsZero() {
			broken.Store(&now)
		}
		due, err := n.Notices.DueNotices(ctx, schedules.NoticeBatchSize)
		return schedules.NotifyEach(ctx, due, err,
			func(ctx context.Context, notice webhook.Notice) error { return n.tell(ctx, notice, *broken.Load()) })
	}}
}

// tell mails a notice about an endpoint, puts it off or drops it, in a transaction. broken is the time at which
// this service's own internet connection was last found broken.
func (n EndpointNoticeMailer) tell(ctx context.Context, notice webhook.Notice, broken time.Time) error {
	now := n.Clock.Now()
	return n.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		about, ok, err := n.Notices.Take(ctx, notice)
		if err != nil || !ok {
			return err
		}
		if about.Notice.MustWait(broken, now) {
			return n.Notices.Postpone(ctx, about.Notice, broken.Add(webhook.OutageNoticeDelay))
		}
		fate := about.Notice.DecideMailing(about.Report, about.Mailed, now)
		if fate.Mail {
			if fate.Mail, err = n.Notices.RecordMailing(ctx, about.Notice); err != nil {
				return err
			}
			if !fate.Mail {
				// The database's clock, which decides, is behind that of this process: the mail is still too early, so it
				// is put off.
				fate.Until = about.Mailed[notice.Kind].Add(webhook.MinNoticeInterval)
			}
		}
		switch {
		case fate.Mail:
			return n.Mails.Enqueue(ctx,
				mails.EndpointNotice{NoticeMailData: about, APIBaseURL: n.APIBaseURL}.Mail(n.Entropy.NewID(), now))
		case !fate.Until.IsZero():
			return n.Notices.Postpone(ctx, about.Notice, fate.Until)
		default:
			return nil
		}
	})
}
