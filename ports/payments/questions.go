package payments

import (
	"context"
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
)

// ProviderQuery is a query to the payment provider that a callback made necessary. The callback itself is never
// an answer.
type ProviderQuery struct {
	ID id.ID
	// The id of the payment to query; zero: only the provider knows to which payment ProviderRef belongs.
	PaymentID   id.ID
	ProviderRef string // The provider's id of the payment; "" where PaymentID is set.
	// Whether the provider is queried about the disputes of the payment, rather than about a payment that ended
	// without success.
	Dispute   bool
	Callbacks int
	Tries     int
}

// ProviderQueryStore stores the queries to the payment provider that callbacks make necessary.
type ProviderQueryStore interface {
	// RecordCallback handles a callback: a processing payment becomes due for a check, and a dispute or a payment
	// that ended without success gets a query that is due now.
	RecordCallback(ctx context.Context, n Callback, questionID id.ID, now time.Time) error
	// DueQueries returns up to limit queries to the payment provider that are due. If this process dies before the
	// answer, a query is due again after its wait: after n tries, waits[n], or else the last.
	DueQueries(ctx context.Context, now time.Time, waits []time.Duration, limit int) ([]ProviderQuery, error)
	// DeleteAnswered removes a query to the payment provider that was answered, unless another callback has made it
	// necessary again.
	DeleteAnswered(ctx context.Context, q ProviderQuery) error
}

// StoredDispute is a dispute as the provider last reported it, with its deposit.
type StoredDispute struct {
	Dispute
	DepositID id.ID
}

// DisputeMailData is what a dispute is about, with the operator who gets a mail about it.
type DisputeMailData struct {
	Operator connect.Operator
	Verified bool
	Deposit  DisputedDeposit
	Kind     string
}

// DisputedDeposit is what a mail contains of the deposit of a disputed payment.
type DisputedDeposit struct {
	ID             id.ID
	Reference      string
	RentalContract string
}

// ErasedClient is an erased client whose customer and card the payment provider must delete.
type ErasedClient struct {
	ClientID    id.ID
	FeePayments []id.ID
}

// DisputeStore stores the disputes of payments.
type DisputeStore interface {
	// Store stores the present state of a dispute and returns the state before; nil for a new dispute. ok reports
	// whether the payment belongs to this service.
	Store(ctx context.Context, d Dispute, now time.Time) (before *StoredDispute, subject DisputeMailData, ok bool,
		err error)
	DisputesOfDeposit(ctx context.Context, depositID id.ID) ([]StoredDispute, error)
}

// ProviderErasureStore stores the erased clients whose data the payment provider must delete.
type ProviderErasureStore interface {
	// DueErasures returns up to limit erased clients whose data the payment provider may delete now. All clients that
	// were checked are checked again at next; looked is their number.
	DueErasures(ctx context.Context, now, next time.Time, limit int) (due []ErasedClient, looked int, err error)
	// DeleteErasure removes a client from those whose data the payment provider must delete. ok reports whether the
	// client was removed.
	DeleteErasure(ctx context.Context, clientID id.ID) (ok bool, err error)
}
