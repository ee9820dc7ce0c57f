package deposits

import (
	"context"
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/core/tenant"
)

// EndingCoverQuery is a search for covers that end soon, of which their operators are notified by mail.
type EndingCoverQuery struct {
	Now    time.Time
	Before time.Time
	// The beginning of the present day: an account that was mailed since then gets no further mail about ending
	// covers.
	Today time.Time
	// Whether the service verifies the addresses of operators, so that only operators with a verified address get the
	// mail.
	VerifyAddresses bool
}

// SecuredMailData is a secured deposit with the operator of its account, as the mails about the deposit need them.
type SecuredMailData struct {
	Operator connect.Operator
	Verified bool
	Deposit  SecuredDeposit

	Company string
	// Tenant is the client's address, with the language of the agreement. Its Email is "" if there is none,
	// and for an erased client.
	Tenant tenant.MailContact
	Words  string
	Fee    money.Cents
	PaidAt time.Time
}

// SecuredDeposit is what mails contain of a deposit that was secured.
type SecuredDeposit struct {
	ID              id.ID
	Reference       string
	Amount          money.Cents
	ContractStartAt time.Time
	ContractEndAt   time.Time
	RentalContract  string // The partner's number of the rental contract; "": the partner sent none.
	ExpiresAt       time.Time
}

// EndingCoversMailData is an account with its covers that end soon, for a mail to its operator.
type EndingCoversMailData struct {
	Operator connect.Operator
	Covers   []EndingCover
	Count    int
}

// EndingCover is what a mail contains of a cover that ends soon.
type EndingCover struct {
	Reference      string
	Amount         money.Cents
	RentalContract string // The partner's number of the rental contract; "": the partner sent none.
	ExpiresAt      time.Time
}

// OperatorNoticeStore stores the notices that operators get by mail, with times in the time zone of the account.
type OperatorNoticeStore interface {
	AddSecuredNotice(ctx context.Context, depositID id.ID, at time.Time) error
	// TakeSecuredNotice removes the notice that a deposit is secured and returns what its mail needs. ok reports
	// whether it did.
	TakeSecuredNotice(ctx context.Context, depositID id.ID) (about SecuredMailData, ok bool, err error)
	// TakeEndingCovers records that the operator of an account is mailed today about ending covers, and returns the
	// first covers to end, at most limit; ok: false for none.
	TakeEndingCovers(ctx context.Context, accountID id.ID, round EndingCoverQuery,
		limit int) (about EndingCoversMailData, ok bool, err error)
	// DueSecuredNotices lists up to limit deposits whose operator is to be mailed that they are secured, oldest first.
	DueSecuredNotices(ctx context.Context, limit int) ([]id.ID, error)
	// AccountsWithEndingCovers lists up to limit accounts with covers that end soon of which the operator was not
	// notified by mail yet.
	AccountsWithEndingCovers(ctx context.Context, round EndingCoverQuery, limit int) ([]id.ID, error)
}
