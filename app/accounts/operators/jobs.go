package operators

import (
	"context"
	"time"

	"partnerdeposits/app/platform/schedules"
	ports "partnerdeposits/ports/platform"
)

const (
	// resetsEvery bounds the wait of a person who forgot a password.
	resetsEvery = 5 * time.Second
	// tokensKeptFor is counted from their end: the mails of the last hour are counted by their tokens.
	tokensKeptFor = 24 * time.Hour
)

// Jobs gives the jobs: links to choose a password are mailed, and sessions, tokens and half sign-ins that ended are
// removed.
func (s *Service) Jobs(every time.Duration) []schedules.Job {
	ended := func(name string, clean schedules.Clean) schedules.Job {
		return schedules.Cleaning(name, s.deps.Clock, schedules.Within(s.deps.UnitOfWork, clean))
	}
	return []schedules.Job{
		{Name: "password resets", Every: min(every, resetsEvery),
			Waits: func(w ports.Waiting) bool { return w.PasswordRequests }, Run: s.MailResets},
		ended("sessions", func(ctx context.Context, now time.Time) (int, error) {
			return s.deps.Sessions.DeleteExpiredSessions(ctx, now, schedules.CleaningBatch)
		}),
		ended("tokens of mails", func(ctx context.Context, now time.Time) (int, error) {
			return s.deps.Tokens.DeleteExpiredTokens(ctx, now.Add(-tokensKeptFor), schedules.CleaningBatch)
		}),
		ended("half sign-ins", func(ctx context.Context, now time.Time) (int, error) {
			return s.deps.HalfSignIns.DeleteExpired(ctx, now, schedules.CleaningBatch)
		}),
	}
}
