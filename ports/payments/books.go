package payments

import (
	"context"
	"errors"
	"iter"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
)

// ErrCallbackRefused says that a callback is unsigned, forged, or more than 300 seconds away.
var ErrCallbackRefused = errors.New("ports: the callback of the payment provider is refused")

// Callbacks reads the provider's webhooks. A callback is a reason to ask the provider, never an answer. Only
// providers that send webhooks implement this interface.
type Callbacks interface {
	// Route is the address that the provider's settings name.
	Route() CallbackRoute
	// Callback verifies the signature over the raw body and gives the payment that the callback is about. The method asks
	// neither the database nor the provider. Returns ErrCallbackRefused.
	Callback(body []byte, signature string, now time.Time) (Callback, error)
}

// CallbackRoute is how a callback arrives: by POST at Path, with its signature in Header.
type CallbackRoute struct {
	Path   string // site.ProviderCallbacks with the provider's name
	Header string
}

// Callback names the payment that a callback is about. A callback of an unknown type is empty but for Ref.
type Callback struct {
	Ref         string // the provider's id of the callback
	PaymentID   id.ID  // zero where the callback does not name our payment
	ProviderRef string // the provider's id of the charge or the page that the callback is about
	Dispute     bool
}

// PaymentBooks lists the provider's own records.
type PaymentBooks interface {
	// Entries gives the charges that succeeded, the refunds and the disputes made at or after from and before to.
	Entries(ctx context.Context, from, to time.Time) iter.Seq2[BookEntry, error]
	// Disputes gives the disputes of a payment, oldest first.
	Disputes(ctx context.Context, paymentID id.ID) ([]Dispute, error)
	// Payment gives the id of the payment that a record of the provider belongs to; the zero id for none of ours.
	Payment(ctx context.Context, providerRef string) (id.ID, error)
}

// BookKind is the kind of an entry.
type BookKind string

// The kinds of entries.
const (
	BookPayment BookKind = "payment"
	BookRefund  BookKind = "refund"
	BookDispute BookKind = "dispute"
)

// BookCurrency is the currency of all our payments.
const BookCurrency = "eur"

// BookEntry is a record of the provider.
type BookEntry struct {
	Kind      BookKind
	PaymentID id.ID // zero where the record names no payment of ours
	DepositID id.ID
	RefundID  id.ID // of a refund
	Ref       string
	Amount    money.Cents
	Currency  string // BookCurrency, unless the provider was paid in another one
	Status    string // as in ProviderPayment, ProviderRefund or Dispute
	At        time.Time
}

// Dispute is a tenant's objection to a charge, raised with the bank that issued the card.
type Dispute struct {
	Ref       string
	PaymentID id.ID
	Amount    money.Cents
	Reason    string
	// needs_response, under_review, won, lost, warning_needs_response, warning_under_review, warning_closed
	Status        string
	EvidenceDueBy time.Time // zero for none
	CreatedAt     time.Time
}

// PaymentEraser deletes personal data at the provider.
type PaymentEraser interface {
	// Forget deletes the customer and the card that a fee payment saved. The call may be repeated.
	Forget(ctx context.Context, feePaymentID id.ID) error
}

// PaymentChecker tries the provider's account and settings.
type PaymentChecker interface {
	// Check makes real requests that move no money in live mode, and gives a line for each.
	Check(ctx context.Context) ([]PaymentCheck, error)
}

// PaymentCheck is the result of a single check.
type PaymentCheck struct {
	Name   string
	OK     bool
	Detail string // for staff, without secrets
}

// PaymentSettings is what a provider makes of its settings without a request, for the doctor.
type PaymentSettings struct {
	Mode    string // such as "test mode"; "": the provider has no modes
	Problem string // "": the settings fit the environment
	Remedy  string // what to do about Problem
}
