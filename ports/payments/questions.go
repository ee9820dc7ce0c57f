package payments

import (
	"context"
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
)

// PaymentQuestion is a question to the payment provider that a callback raised. A callback is never an answer.
type PaymentQuestion struct {
	ID          id.ID
	PaymentID   id.ID  // zero: the provider knows which payment ProviderRef belongs to
	ProviderRef string // "" where PaymentID is known
	Dispute     bool   // about the disputes of the payment; otherwise about a payment that ended without success
	Callbacks   int    // callbacks that raised the question
	Tries       int    // earlier tries that failed
}

// PaymentQuestions keeps the questions that callbacks raise.
type PaymentQuestions interface {
	// Raise makes a payment in processing due for a check. A dispute, and a payment that ended without success,
	// become a question that is due now. Any other callback changes nothing.
	Raise(ctx context.Context, n Callback, questionID id.ID, now time.Time) error
	// QuestionsDue gives up to limit questions that are due, and makes them due again, for a process that dies
	// meanwhile: after n tries, waits[n] later; the last wait stands for all further tries.
	QuestionsDue(ctx context.Context, now time.Time, waits []time.Duration, limit int) ([]PaymentQuestion, error)
	// Answered removes a question, unless another callback has raised it again.
	Answered(ctx context.Context, q PaymentQuestion) error
}

// KeptDispute is a dispute as the provider told of it last.
type KeptDispute struct {
	Dispute
	DepositID id.ID
}

// DisputeSubject is what a dispute is about, with the operator who is told.
type DisputeSubject struct {
	Operator connect.Operator
	Verified bool // the operator's address is
	Deposit  DisputedDeposit
	Kind     string // of the payment: fee or collection
}

// DisputedDeposit is what a mail says of the deposit of a disputed payment.
type DisputedDeposit struct {
	ID             id.ID
	Reference      string
	RentalContract string // "" for none
}

// ForgottenClient is an erased client about whom the payment provider is to forget customer and card.
type ForgottenClient struct {
	ClientID    id.ID
	FeePayments []id.ID
}

// Disputes keeps disputes.
type Disputes interface {
	// Keep stores the present state of a dispute and gives the state before; nil for a dispute that was not known. ok
	// is false for a payment that is not ours.
	Keep(ctx context.Context, d Dispute, now time.Time) (before *KeptDispute, subject DisputeSubject, ok bool, err error)
	// DisputesOf gives the disputes about the payments of a deposit, oldest first.
	DisputesOf(ctx context.Context, depositID id.ID) ([]KeptDispute, error)
}

// PaymentErasures keeps the clients whom the payment provider is to forget.
type PaymentErasures interface {
	// ErasuresDue gives up to limit clients who owe nothing any more: their deposits are over, and no payment is
	// processing. All clients that were looked at are looked at again at next; looked is their number.
	ErasuresDue(ctx context.Context, now, next time.Time, limit int) (due []ForgottenClient, looked int, err error)
	// Forgotten removes a client from those that are due. ok is false if another dispatcher has.
	Forgotten(ctx context.Context, clientID id.ID) (ok bool, err error)
}
