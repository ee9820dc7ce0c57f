package schedules

import (
	"context"
	"time"

	"partnerdeposits/app/internal/mails"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

const noticeBatch = 100

// Notices mails partners' contacts what they are to know of their endpoints (api.md §5, "Notices").
type Notices struct {
	Due        ports.DueNotices
	UnitOfWork ports.UnitOfWork
	Clock      ports.Clock
	Entropy    ports.Entropy
	APIBaseURL string // API_BASE_URL, for the link to the documentation
}

// Job gives the job. A notice that fails is taken up again in the next round and delays no other.
func (n Notices) Job(every time.Duration) Job {
	return Job{Name: "notices", Every: every, Run: func(ctx context.Context) (bool, error) {
		due, err := n.Due.DueNotices(ctx, noticeBatch)
		return eachNotice(ctx, due, err, n.tell)
	}}
}

// tell mails a notice, puts it off or drops it, in a transaction.
func (n Notices) tell(ctx context.Context, notice webhook.Notice) error {
	now := n.Clock.Now()
	return n.UnitOfWork.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) error {
		about, ok, err := repos.Notices.Take(ctx, notice)
		if err != nil || !ok {
			return err
		}
		fate := about.Notice.Decide(about.Report.State, about.Told, now)
		if fate.Mail {
			if fate.Mail, err = repos.Notices.Mailing(ctx, about.Notice); err != nil {
				return err
			}
			if !fate.Mail { // the database's clock is behind
				fate.Until = about.Told[notice.Kind].Add(webhook.NoticeEvery)
			}
		}
		switch {
		case fate.Mail:
			return repos.Mails.Enqueue(ctx, mails.EndpointNotice{NoticeSubject: about, APIBaseURL: n.APIBaseURL}.Mail(n.Entropy.NewID(), now))
		case !fate.Until.IsZero():
			return repos.Notices.PutOff(ctx, about.Notice, fate.Until)
		default:
			return nil
		}
	})
}
