package platform

import (
	"context"
	"time"
)

// Waiting tells which work waits for a job of the dispatcher.
type Waiting struct {
	IdleCheckouts    bool
	ExpiredCheckouts bool
	ElapsedCoverages bool
	SecuredNotices   bool
	TenantNotices    bool
	PaymentQuestions bool
	Payments         bool // in processing
	Refunds          bool
	PasswordRequests bool
	Mails            bool
	EndpointNotices  bool
	FailingEndpoints bool
	Replays          bool
}

// WaitingWork is the query for the work that waits for the dispatcher's jobs.
type WaitingWork interface {
	// WaitingWork tells what is due at now; a checkout is idle whose last step was before idleBefore. Work that another
	// process has taken may be named, too.
	WaitingWork(ctx context.Context, now, idleBefore time.Time) (Waiting, error)
}
