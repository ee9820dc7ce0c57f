package accounts

import (
	"context"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	ports "partnerdeposits/ports/platform"
)

// Operators keeps operators and their accounts.
type Operators interface {
	// Insert adds an operator and the account of the operator. Returns connect.ErrEmailTaken.
	Insert(ctx context.Context, o connect.Operator, a connect.Account) error
	// Lock gives an operator, whom no other transaction then changes or locks. Returns connect.ErrBadCredentials for an
	// unknown id.
	Lock(ctx context.Context, operatorID id.ID) (connect.Operator, error)
	// Update stores everything of an operator but id and time of creation. Returns connect.ErrEmailTaken.
	Update(ctx context.Context, o connect.Operator) error
	// SetCeiling sets the maximum amount of an account; 0 restores the default. Returns connect.ErrAccountNotFound.
	SetCeiling(ctx context.Context, accountID id.ID, maxAmount money.Cents) error
	// ChangeAccount stores what is set of an account. Returns connect.ErrAccountNotFound.
	ChangeAccount(ctx context.Context, accountID id.ID, change AccountChange) error
	SetCoverMails(ctx context.Context, operatorID id.ID, wanted bool) error
	// WantsCoverMails reports whether an operator gets mails about covers that end.
	WantsCoverMails(ctx context.Context, operatorID id.ID) (bool, error)
	// OperatorByEmail compares addresses in the form of mailaddr.Normal. Returns connect.ErrBadCredentials.
	OperatorByEmail(ctx context.Context, email string) (connect.Operator, connect.Account, error)
	// AccountByID returns connect.ErrAccountNotFound.
	AccountByID(ctx context.Context, accountID id.ID) (connect.Account, connect.Operator, error)
	// Accounts lists the newest accounts first.
	Accounts(ctx context.Context, page ports.Page) (ports.List[connect.Account], error)
	// AccountOfOperator returns connect.ErrAccountNotFound.
	AccountOfOperator(ctx context.Context, operatorID id.ID) (id.ID, error)
}

// AccountChange is what changes of an account. A field that is nil stays.
type AccountChange struct{ CompanyName, Contact, Timezone *string }
