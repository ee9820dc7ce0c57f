package mails

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/app/platform/parallel"
	"partnerdeposits/app/platform/schedules"
	"partnerdeposits/core/deposit"
	ports "partnerdeposits/ports/platform"
)

const (
	mailBatch = 8
	// mailLease is how long other dispatchers leave the mails of a batch alone. They send the mails of a dispatcher
	// that died after the lease.
	mailLease = 5 * time.Minute
	// mailsWithin ends every attempt of a batch before its lease, so that no mail is under way twice: not even when the
	// process was stopped meanwhile and goes on.
	mailsWithin = mailLease - 20*time.Second
	// recordWithin bounds the tries to record that a mail was sent.
	recordWithin = 30 * time.Minute
)

// SendJob gives the job that sends mails. A mail that fails is planned again and does not delay the others. A mail that
// the server took is sent again only if the process dies before the record, or Postgres stays away until the lease is
// over.
func SendJob(due ports.Mails, mailer ports.Mailer, metrics ports.MailMetrics, every time.Duration) schedules.Job {
	waits := func(w ports.Waiting) bool { return w.Mails }
	return schedules.Job{Name: "mail", Every: every, Waits: waits, Run: func(ctx context.Context) (bool, error) {
		// An attempt that has begun is not called off: the server may have taken the mail already.
		sending, cancel := context.WithTimeout(context.WithoutCancel(ctx), mailsWithin)
		defer cancel()
		claimed, err := due.Claim(ctx, mailBatch, mailLease)
		failures := []error{err}
		parallel.Each(claimed, func(m ports.Mail) (bool, error) {
			if ctx.Err() != nil {
				return false, ctx.Err() // the mail is due again when the lease is over
			}
			err := mailer.Send(sending, m)
			metrics.Attempted(err == nil)
			if err != nil {
				return false, errors.Join(err, due.Failed(context.WithoutCancel(ctx), m, RetryWaits))
			}
			return true, recordSent(ctx, due, m)
		}, func(_ ports.Mail, _ bool, err error) { failures = append(failures, err) })
		return len(claimed) == mailBatch && ctx.Err() == nil, errors.Join(failures...)
	}}
}

// recordSent records that the server took a mail. While Postgres is away it tries again, also once the process was told
// to stop.
func recordSent(ctx context.Context, due ports.Mails, m ports.Mail) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordWithin)
	defer cancel()
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		err := due.Sent(ctx, m.ID)
		if err == nil {
			return nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C:
		}
	}
}

// keptFor is how long a mail is kept after its end.
const keptFor = 30 * 24 * time.Hour

// CleanJob gives the job that removes mails that were sent or given up, and counts of mails that are a day old.
func CleanJob(queue ports.Mails, clock ports.Clock) schedules.Job {
	return schedules.Cleaning("mails", clock, func(ctx context.Context, now time.Time) (int, error) {
		sent, err := queue.DeleteFinishedMails(ctx, now.Add(-keptFor), schedules.CleaningBatch)
		if err != nil {
			return sent, err
		}
		counted, err := queue.DeleteSentTo(ctx, now.Add(-deposit.LinkWindow), schedules.CleaningBatch)
		return max(sent, counted), err
	})
}

// RetryWaits are the waits after the first failed attempt, the second, and so on. A mail that fails once more is given
// up. Together they are longer than a weekend without the mail server.
var RetryWaits = []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 12 * time.Hour,
	24 * time.Hour, 24 * time.Hour, 24 * time.Hour}
