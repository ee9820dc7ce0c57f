package deposits

import (
	"context"
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/core/tenant"
)

// EndingCoverQuery is one search for covers that end soon, of which their operators are notified by mail.
type EndingCoverQuery struct {
	Now    time.Time
	Before time.Time // Covers that end before this time are named in the mail.
	// The beginning of the present day: an account that was mailed since then gets no further mail about ending
	// covers.
	Today time.Time
	// VerifyAddresses: true if the service verifies the addresses of operators, and then only operators with a
	// verified address get the mail; false: all operators get it.
	VerifyAddresses bool
}

// SecuredMailData is a secured deposit with the operator of its account, as the mails about the deposit need
// them.
type SecuredMailData struct {
	Operator connect.Operator
	Verified bool // true: the operator's e-mail address is verified; false: it is not.
	Deposit  SecuredDeposit

	Company string // The name of the operator's company.
	// Tenant is the client's address, with the language of the agreement. Its Email is "" for a deposit without one,
	// and for an erased client.
	Tenant tenant.MailContact
	Words  string      // The words of the tenant's last agreement; "" for a payment that was simulated.
	Fee    money.Cents // The fee that the tenant paid.
	PaidAt time.Time
}

// SecuredDeposit is what mails contain of a deposit that was secured.
type SecuredDeposit struct {
	ID              id.ID
	Reference       string
	Amount          money.Cents
	ContractStartAt time.Time
	ContractEndAt   time.Time
	RentalContract  string    // The partner's number of the rental contract; "": the partner sent none.
	ExpiresAt       time.Time // The end of the cover.
}

// EndingCoversMailData is an account with its covers that end soon, for a mail to its operator.
type EndingCoversMailData struct {
	Operator connect.Operator
	Covers   []EndingCover // The covers of the account that end first, to be named in the mail.
	Count    int           // The number of all covers of the account that end soon.
}

// EndingCover is what a mail contains of a cover that ends soon.
type EndingCover struct {
	Reference      string // The reference of the deposit.
	Amount         money.Cents
	RentalContract string // The partner's number of the rental contract; "": the partner sent none.
	ExpiresAt      time.Time
}

// OperatorNoticeStore stores the notices that operators get by mail, with times in the time zone of the account. The
// Take methods return each notice once, even if several dispatchers call them; the mail commits in the same
// transaction.
type OperatorNoticeStore interface {
	// AddSecuredNotice stores the notice that a deposit is secured, of which the operator is to be mailed.
	AddSecuredNotice(ctx context.Context, depositID id.ID, at time.Time) error
	// TakeSecuredNotice removes the notice that a deposit is secured and returns what its mail needs. ok is true if it
	// did; false when another dispatcher has taken the notice.
	TakeSecuredNotice(ctx context.Context, depositID id.ID) (about SecuredMailData, ok bool, err error)
	// TakeEndingCovers records that the operator of an account is mailed today about ending covers, and returns the
	// first covers to end, at most limit. ok is true if there are such covers; false when there is nothing left to
	// mail.
	TakeEndingCovers(ctx context.Context, accountID id.ID, round EndingCoverQuery,
		limit int) (about EndingCoversMailData, ok bool, err error)
	// DueSecuredNotices lists up to limit deposits whose operator is to be mailed that they are secured, oldest first.
	DueSecuredNotices(ctx context.Context, limit int) ([]id.ID, error)
	// AccountsWithEndingCovers lists up to limit accounts with covers that end soon of which the operator was not
	// notified by mail yet.
	AccountsWithEndingCovers(ctx context.Context, round EndingCoverQuery, limit int) ([]id.ID, error)
}
