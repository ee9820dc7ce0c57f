package schedules

import (
	"context"
	"time"
)

// resetsEvery bounds the wait of a person who forgot a password.
const resetsEvery = 5 * time.Second

// PasswordResets answers the requests for a new password.
type PasswordResets interface {
	// MailResets answers a batch. more reports that further requests may wait.
	MailResets(ctx context.Context) (more bool, err error)
}

// ResetJob gives the job that mails links to choose a password.
func ResetJob(resets PasswordResets, every time.Duration) Job {
	return Job{Name: "password resets", Every: min(every, resetsEvery), Run: resets.MailResets}
}
