package operators

import (
	"context"
	"time"

	"partnerdeposits/app/platform/schedules"
)

const (
	// resetsEvery is the interval at which links to set a password are mailed; it bounds the wait of a person who has
	// forgotten one.
	resetsEvery = 5 * time.Second
	// tokensKeptFor is the time for which an ended mail token is kept, since the limit on mails in an hour counts such
	// tokens.
	tokensKeptFor = 24 * time.Hour
)

// ScheduledJobs returns the scheduled jobs of operators' accounts.
func (s *Service) ScheduledJobs(every time.Duration) []schedules.Job {
	ended := func(name string, clean schedules.CleanFunc) schedules.Job {
		return schedules.NewCleaningJob(name, s.deps.Clock, schedules.CleanWithinTx(s.deps.UnitOfWork, clean))
	}
	return []schedules.Job{
		{Name: "password resets", Every: min(every, resetsEvery), Run: s.MailPasswordResets},
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
