package accounts

import (
	"context"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	ports "partnerdeposits/ports/platform"
)

// OperatorStore stores operators and their accounts.
type OperatorStore interface {
	// Insert stores a new operator and the operator's account. Returns connect.ErrEmailTaken.
	Insert(ctx context.Context, o connect.Operator, a connect.Account) error
	// LockRow locks and returns an operator. Returns connect.ErrBadCredentials for an unknown id.
	LockRow(ctx context.Context, operatorID id.ID) (connect.Operator, error)
	// Update stores all fields of an operator except the id and the time of creation. Returns connect.ErrEmailTaken.
	Update(ctx context.Context, o connect.Operator) error
	// SetDepositCeiling sets the largest amount of a deposit for an account; 0 restores the default. Returns
	// connect.ErrAccountNotFound.
	SetDepositCeiling(ctx context.Context, accountID id.ID, maxAmount money.Cents) error
	// ChangeAccount stores the fields of an account that a change sets. Returns connect.ErrAccountNotFound.
	ChangeAccount(ctx context.Context, accountID id.ID, change AccountChange) error
	SetCoverMails(ctx context.Context, operatorID id.ID, wanted bool) error
	// WantsCoverMails reports whether an operator wants mails about covers that end soon.
	WantsCoverMails(ctx context.Context, operatorID id.ID) (bool, error)
	// OperatorByEmail returns the operator with an e-mail address, and the operator's account, or
	// connect.ErrBadCredentials. Addresses are compared in the form of mailaddr.Normal.
	OperatorByEmail(ctx context.Context, email string) (connect.Operator, connect.Account, error)
	// AccountByID returns an account and its operator, or connect.ErrAccountNotFound.
	AccountByID(ctx context.Context, accountID id.ID) (connect.Account, connect.Operator, error)
	Accounts(ctx context.Context, page ports.Page) (ports.ListPage[connect.Account], error)
	AccountIDOfOperator(ctx context.Context, operatorID id.ID) (id.ID, error)
}

// AccountChange is a change of an account; a field that is nil keeps its value.
type AccountChange struct{ CompanyName, Contact, Timezone *string }
