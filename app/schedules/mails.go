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
	// mailLease is how long a batch may take; mails of a crashed dispatcher are tried again after it.
	mailLease = 5 * time.Minute
)

// Mails gives the job that sends mails. One that cannot be sent is planned again; the others go out.
func Mails(due ports.DueMails, mailer ports.Mailer, every time.Duration) Job {
	return Job{Name: "mail", Every: every, Run: func(ctx context.Context) (bool, error) {
		claimed, err := due.Claim(ctx, mailBatch, mailLease)
		if err != nil {
			return false, err
		}
		var failures []error
		for _, m := range claimed {
			if ctx.Err() != nil {
				return false, ctx.Err() // the rest comes again when the lease is over
			}
			// A mail that was handed over is noted as sent, told to stop or not: it must not go out twice.
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
