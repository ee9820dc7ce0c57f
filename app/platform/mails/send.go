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
	// mailLease is the time for which a batch of mails is reserved for one dispatcher. If that dispatcher dies,
	// others send its mails after the lease.
	mailLease = 5 * time.Minute
	// mailsWithin is the time limit of all attempts to send a batch of mails. It ends before the lease (the time for
	// which a dispatcher reserves the batch), so that no mail is being sent twice at a time, even when the process
	// is suspended and continues later.
	mailsWithin = mailLease - 20*time.Second
	// recordWithin is the time limit of the tries to record that a mail was sent.
	recordWithin = 30 * time.Minute
)

// MailSendingJob returns the scheduled job that sends queued mails. A mail that fails is scheduled again and does not
// delay the others. A mail that the server accepted is sent again only if the process dies before it is recorded,
// or if Postgres stays unreachable until the time for which the dispatcher reserved the mail is over.
func MailSendingJob(due ports.MailQueue, mailer ports.Mailer, metrics ports.MailMetrics, every time.Duration) schedules.Job {
	waits := func(w ports.WaitingWorkFlags) bool { return w.Mails }
	return schedules.Job{Name: "mail", Every: every, Waits: waits, Run: func(ctx context.Context) (bool, error) {
		// The context of an attempt is not cancelled when the process is told to stop: the mail server may already
		// have accepted the mail.
		sending, cancel := context.WithTimeout(context.WithoutCancel(ctx), mailsWithin)
		defer cancel()
		claimed, err := due.ClaimDue(ctx, mailBatch, mailLease)
		failures := []error{err}
		parallel.Each(claimed, func(m ports.Mail) (bool, error) {
			if ctx.Err() != nil {
				// A mail that was not recorded as sent is due again when the dispatcher's lease on it is over.
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

// recordSent records that the mail server accepted a mail. While Postgres is unreachable it tries again, even
// after the process was told to stop.
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

// keptFor is the time for which a mail is kept after it was sent or given up.
const keptFor = 30 * 24 * time.Hour

// MailCleaningJob returns the scheduled job that deletes old mails that were sent or given up, and counts of mails
// that are a day old.
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

// RetryWaits are the waits before a failed mail is sent again: after the first failure, the second, and so
// on. A mail that fails once more is given up. Together the waits are longer than a weekend without the mail
// server.
var RetryWaits = []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 12 * time.Hour,
	24 * time.Hour, 24 * time.Hour, 24 * time.Hour}
