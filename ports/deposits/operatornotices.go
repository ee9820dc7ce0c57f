package deposits

import (
	"context"
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/core/tenant"
)

// CoverRound is a look for covers that end soon.
type CoverRound struct {
	Now    time.Time
	Before time.Time // covers that end before are told
	Today  time.Time // the beginning of the day; an account whose last mail is younger gets none
	// VerifyAddresses says that addresses are verified in this service: only operators with a verified address are
	// told.
	VerifyAddresses bool
}

// SecuredSubject is a secured deposit with the operator of its account.
type SecuredSubject struct {
	Operator connect.Operator
	Verified bool // the operator's address is
	Deposit  SecuredDeposit

	Company string // of the operator
	// Tenant is the client's address, with the language of the agreement; Email "" for none, and for an erased client.
	Tenant tenant.Contact
	Words  string      // of the tenant's last agreement; "" for a payment that was simulated
	Fee    money.Cents // that was paid
	PaidAt time.Time
}

// SecuredDeposit is what mails say of a deposit that was secured.
type SecuredDeposit struct {
	ID              id.ID
	Reference       string
	Amount          money.Cents
	ContractStartAt time.Time
	ContractEndAt   time.Time
	RentalContract  string    // "" for none
	ExpiresAt       time.Time // end of the cover
}

// CoverSubject are the covers of an account that end soon.
type CoverSubject struct {
	Operator connect.Operator
	Covers   []EndingCover // those that end first
	Count    int           // of all of them
}

// EndingCover is what a mail says of a cover that ends soon.
type EndingCover struct {
	Reference      string // of the deposit
	Amount         money.Cents
	RentalContract string // "" for none
	ExpiresAt      time.Time
}

// OperatorNotices keeps what operators are to be told by mail, with times in the time zone of the account. Take methods
// give each notice once, however many dispatchers ask; the mail commits with the taking.
type OperatorNotices interface {
	// AddSecured notes that a deposit is secured.
	AddSecured(ctx context.Context, depositID id.ID, at time.Time) error
	// TakeSecured removes the notice of a deposit. ok is false when another dispatcher has taken it.
	TakeSecured(ctx context.Context, depositID id.ID) (about SecuredSubject, ok bool, err error)
	// TakeCovers notes that the operator of an account is told today, and gives the covers, the first limit of them. ok
	// is false when there is nothing to tell any more.
	TakeCovers(ctx context.Context, accountID id.ID, round CoverRound, limit int) (about CoverSubject, ok bool, err error)
	// SecuredDue lists up to limit deposits whose operator is to be told that they are secured, oldest first.
	SecuredDue(ctx context.Context, limit int) ([]id.ID, error)
	// CoversDue lists up to limit accounts with covers that end soon and of which the operator was not told.
	CoversDue(ctx context.Context, round CoverRound, limit int) ([]id.ID, error)
}
