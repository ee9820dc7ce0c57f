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
	// mailLease is the time for which a dispatcher reserves a batch of mails; if that dispatcher dies, others send
	// them afterwards.
	mailLease = 5 * time.Minute
	// The time limit of sending a batch of mails ends before the lease of the batch, so that no mail is being sent
	// twice at a time.
	mailsWithin = mailLease - 20*time.Second
	// The time limit of recording that a mail was sent.
	recordWithin = 30 * time.Minute
)

// MailSendingJob sends queued mails. A failure delays no other; one that the server accepted is sent again
// only if recording that fails until the lease ends.
func MailSendingJob(due ports.MailQueue, mailer ports.Mailer, metrics ports.MailMetrics, every time.Duration) schedules.Job {
	return schedules.Job{Name: "mail", Every: every, Run: func(ctx context.Context) (bool, error) {
		// An attempt goes on when the process is told to stop: the mail server may have accepted the mail.
		sending, cancel := context.WithTimeout(context.WithoutCancel(ctx), mailsWithin)
		defer cancel()
		claimed, err := due.ClaimDue(ctx, mailBatch, mailLease)
		failures := []error{err}
		parallel.Each(claimed, func(m ports.Mail) (bool, error) {
			if ctx.Err() != nil {
				// A mail not recorded as sent is due again when the dispatcher's lease ends.
				return false, ctx.Err()
			}
			err := mailer.Send(sending, m)
			metrics.CountAttempt(err == nil)
			if err != nil {
				return false, errors.Join(err, due.MarkFailed(context.WithoutCancel(ctx), m, RetryWaits))
			}
			return true, recordSent(ctx, due, m)
		}, func(_ ports.Mail, _ bool, err error) { failures = append(failures, err) })
		return len(claimed) == mailBatch && ctx.Err() == nil, errors.Join(failures...)
	}}
}

// recordSent records that a mail was sent, and retries while Postgres is unreachable, even after the process was
// told to stop.
func recordSent(ctx context.Context, due ports.MailQueue, m ports.Mail) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordWithin)
	defer cancel()
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		err := due.MarkSent(ctx, m.ID)
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

// The time for which a sent or given-up mail is kept.
const keptFor = 30 * 24 * time.Hour

// MailCleaningJob deletes old mails, and counts of mails that are a day old.
func MailCleaningJob(queue ports.MailQueue, clock ports.Clock) schedules.Job {
	return schedules.NewCleaningJob("mails", clock, func(ctx context.Context, now time.Time) (int, error) {
		sent, err := queue.DeleteFinishedMails(ctx, now.Add(-keptFor), schedules.CleaningBatchSize)
		if err != nil {
			return sent, err
		}
		counted, err := queue.DeleteSentCounts(ctx, now.Add(-deposit.LinkMailWindow), schedules.CleaningBatchSize)
		return max(sent, counted), err
	})
}

// RetryWaits are the waits before a failed mail is sent again, together longer than a weekend; after them it is
// given up.
var RetryWaits = []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 12 * time.Hour,
	24 * time.Hour, 24 * time.Hour, 24 * time.Hour}
