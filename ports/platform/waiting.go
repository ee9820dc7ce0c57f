package platform

import (
	"context"
	"time"
)

// Waiting reports for each job of the dispatcher whether work waits for it: true: work waits, false: none.
type Waiting struct {
	IdleCheckouts    bool
	ExpiredCheckouts bool
	ElapsedCoverages bool
	SecuredNotices   bool
	TenantNotices    bool
	PaymentQuestions bool
	Payments         bool // true: a payment with the status processing is due for a check; false: none is.
	Refunds          bool
	PasswordRequests bool
	Mails            bool
	EndpointNotices  bool
	FailingEndpoints bool
	Replays          bool
}

// WaitingWork is the query for the work that waits for the dispatcher's jobs.
type WaitingWork interface {
	// WaitingWork returns which work is due at now; a checkout is idle whose last step was before idleBefore. The
	// result may include work that another process has taken.
	WaitingWork(ctx context.Context, now, idleBefore time.Time) (Waiting, error)
}
