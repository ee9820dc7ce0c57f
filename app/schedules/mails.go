package schedules

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/app/internal/mails"
	"partnerdeposits/ports"
)

const (
	mailBatch = 20
	// mailLease bounds the time of a batch. After the lease other dispatchers send the mails of a crashed dispatcher.
	mailLease = 5 * time.Minute
)

// Mails gives the job that sends mails. A mail that fails is planned again and does not delay the others.
func Mails(due ports.DueMails, mailer ports.Mailer, every time.Duration) Job {
	return Job{Name: "mail", Every: every, Run: func(ctx context.Context) (bool, error) {
		claimed, err := due.Claim(ctx, mailBatch, mailLease)
		if err != nil {
			return false, err
		}
		var failures []error
		for _, m := range claimed {
			if ctx.Err() != nil {
				return false, ctx.Err() // the remaining mails are due again when the lease is over
			}
			// The result is recorded even if ctx has ended, since a sent mail must not be sent again.
			record := context.WithoutCancel(ctx)
			if err := mailer.Send(ctx, m); err != nil {
				failures = append(failures, err, due.Failed(record, m.ID, mails.RetryWaits))
				continue
			}
			failures = append(failures, due.Sent(record, m.ID))
		}
		return len(claimed) == mailBatch, errors.Join(failures...)
	}}
}
