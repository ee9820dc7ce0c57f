package payments

import (
	"context"
	"errors"
	"iter"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
)

// ErrCallbackRefused is the error for a callback of the payment provider that is unsigned, forged, or signed for
// a time more than 300 seconds away.
var ErrCallbackRefused = errors.New("ports: the callback of the payment provider is refused")

// CallbackVerifier reads the callbacks of the payment provider, its webhooks. A callback is a reason to query the
// provider, never an answer. Only providers that send webhooks implement this interface.
type CallbackVerifier interface {
	CallbackRoute() CallbackRoute
	// VerifyCallback verifies the signature over the raw body and returns the payment that the callback is about.
	// Returns ErrCallbackRefused.
	VerifyCallback(body []byte, signature string, now time.Time) (Callback, error)
}

// CallbackRoute is how a callback arrives: by POST at Path, with its signature in Header.
type CallbackRoute struct {
	Path   string
	Header string
}

// Callback names the payment that a callback is about. For a callback of an unknown type only Ref is set.
type Callback struct {
	Ref         string
	PaymentID   id.ID // The id of the payment; zero where the callback does not name a payment of this service.
	ProviderRef string
	Dispute     bool
}

// ProviderBookReader reads the payment provider's own records of payments, refunds and disputes, to be compared with
// those of this service.
type ProviderBookReader interface {
	// BookEntries returns the provider's records of successful charges, refunds and disputes made at or after from and
	// before to.
	BookEntries(ctx context.Context, from, to time.Time) iter.Seq2[BookEntry, error]
	Disputes(ctx context.Context, paymentID id.ID) ([]Dispute, error)
	// PaymentIDOf returns the id of the payment that a record of the provider belongs to; the zero id if it is not a
	// payment of this service.
	PaymentIDOf(ctx context.Context, providerRef string) (id.ID, error)
}

// BookEntryKind is the kind of a payment provider's record: a charge, a refund or a dispute.
type BookEntryKind string

// The kinds of a payment provider's records that are compared with those of this service.
const (
	BookEntryPayment BookEntryKind = "payment"
	BookEntryRefund  BookEntryKind = "refund"
	BookEntryDispute BookEntryKind = "dispute"
)

// PaymentCurrency is the currency of all payments of this service.
const PaymentCurrency = "eur"

// BookEntry is the payment provider's record of a charge, a refund or a dispute.
type BookEntry struct {
	Kind BookEntryKind
	// The id of the payment that the provider's record is about; zero where the record names no payment of this
	// service.
	PaymentID id.ID
	DepositID id.ID
	RefundID  id.ID // The id of the refund, in the provider's record of a refund.
	Ref       string
	Amount    money.Cents
	// The currency of the provider's record: PaymentCurrency, unless the tenant was charged in another one.
	Currency string
	// The status that the provider's record states, as in ProviderPayment, ProviderRefund or Dispute.
	Status string
	At     time.Time
}

// Dispute is a tenant's objection to a charge, raised with the bank that issued the card.
type Dispute struct {
	Ref       string
	PaymentID id.ID
	Amount    money.Cents
	Reason    string
	// The status of the dispute: needs_response, under_review, won, lost, warning_needs_response,
	// warning_under_review or warning_closed.
	Status        string
	EvidenceDueBy time.Time // The time by which the bank must have the evidence; zero: no evidence is due.
	CreatedAt     time.Time
}

// PaymentEraser deletes personal data of tenants at the payment provider.
type PaymentEraser interface {
	// EraseCustomer deletes the customer and the card that a fee payment saved at the provider. The call may be repeated.
	EraseCustomer(ctx context.Context, feePaymentID id.ID) error
}

// ProviderChecker tests the account and the settings at the payment provider.
type ProviderChecker interface {
	CheckAccount(ctx context.Context) ([]ProviderCheck, error)
}

// ProviderCheck is the result of a single test of the payment provider's account.
type ProviderCheck struct {
	Name   string
	OK     bool
	Detail string
}

// ProviderSettings describes the settings of a payment provider as they are read without a request, for the admin
// command doctor.
type ProviderSettings struct {
	Mode    string // The mode of the provider, such as "test mode"; "": the provider has no modes.
	Problem string // What is wrong with the settings; "": they fit the environment.
	Remedy  string
}
