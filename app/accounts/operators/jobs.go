package operators

import (
	"context"
	"time"

	"partnerdeposits/app/platform/schedules"
	ports "partnerdeposits/ports/platform"
)

const (
	// resetsEvery is the interval of the job that mails links to set a password. It bounds the wait of a person
	// who has forgotten a password.
	resetsEvery = 5 * time.Second
	// tokensKeptFor is the time for which a mail token is kept after it has ended. The limit on mails in an hour
	// counts these tokens.
	tokensKeptFor = 24 * time.Hour
)

// ScheduledJobs returns the scheduled jobs of operators' accounts: one mails links that set a password, the others
// delete ended sessions, mail tokens and half sign-ins.
func (s *Service) ScheduledJobs(every time.Duration) []schedules.Job {
	ended := func(name string, clean schedules.CleanFunc) schedules.Job {
		return schedules.NewCleaningJob(name, s.deps.Clock, schedules.CleanWithinTx(s.deps.UnitOfWork, clean))
	}
	return []schedules.Job{
		{Name: "password resets", Every: min(every, resetsEvery),
			Waits: func(w ports.WaitingWorkFlags) bool { return w.PasswordRequests }, Run: s.MailPasswordResets},
		ended("sessions", func(ctx context.Context, now time.Time) (int, error) {
			return s.deps.Sessions.DeleteExpiredSessions(ctx, now, schedules.CleaningBatchSize)
		}),
		ended("tokens of mails", func(ctx context.Context, now time.Time) (int, error) {
			return s.deps.Tokens.DeleteExpiredTokens(ctx, now.Add(-tokensKeptFor), schedules.CleaningBatchSize)
		}),
		ended("half sign-ins", func(ctx context.Context, now time.Time) (int, error) {
			return s.deps.HalfSignIns.DeleteExpired(ctx, now, schedules.CleaningBatchSize)
		}),
	}
}
