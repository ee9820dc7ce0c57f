package platform

import (
	"context"
	"time"
)

// WaitingWorkFlags reports for each scheduled job of the dispatcher whether there is work for it: true: there is,
// false: there is none.
type WaitingWorkFlags struct {
	IdleCheckouts    bool
	ExpiredCheckouts bool
	ElapsedCoverages bool
	SecuredNotices   bool
	TenantNotices    bool
	PaymentQuestions bool
	Payments         bool // Whether a payment with the status processing is due for a check.
	Refunds          bool
	PasswordRequests bool
	Mails            bool
	EndpointNotices  bool
	FailingEndpoints bool
	Replays          bool
}

// WaitingWorkReader is the query that finds out which scheduled jobs of the dispatcher have work.
type WaitingWorkReader interface {
	// WaitingWork reports which scheduled jobs have work at now; a checkout is idle if its last step was before
	// idleBefore.
	WaitingWork(ctx context.Context, now, idleBefore time.Time) (WaitingWorkFlags, error)
}
