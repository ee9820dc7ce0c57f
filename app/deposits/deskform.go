package deposits

import (
	"context"
	"crypto/sha256"
	"strconv"
	"strings"
	"time"

	"partnerdeposits/app/deposits/lifecycle"
	"partnerdeposits/app/platform/audit"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/site"
	ports "partnerdeposits/ports/platform"
)

// ErrDepositChanged is the error for an operator's act on a deposit that has changed since the operator's page was
// opened.
var ErrDepositChanged = fault.New(fault.Conflict, "deposit_changed", "The deposit has changed since the page was opened.")

// OperatorCaller is a signed-in operator with the operator's account.
type OperatorCaller struct {
	Operator connect.Operator
	Account  connect.Account
}

// act returns the entry of an operator's change for the history of a deposit: the operator as the author, and the
// details that are not empty.
func (by OperatorCaller) act(detail map[string]string) lifecycle.TransitionAuthor {
	set := map[string]string{}
	for k, v := range detail {
		if v != "" {
			set[k] = v
		}
	}
	return lifecycle.TransitionAuthor{Actor: by.Operator.Actor(), Detail: set}
}

// ActForm is the form of an operator's act on a deposit, with the version of the deposit that the page
// showed.
type ActForm struct {
	DepositID id.ID
	// The version of the deposit that the page showed; 0 when the act does not depend on the version.
	Version int
	// Key identifies the form that was sent. The same form sent a second time has no second effect.
	Key [16]byte
}

// unchanged returns ErrChanged unless the deposit still has the version that the page showed.
func (form ActForm) unchanged(d *deposit.Deposit) error {
	if d.Version != form.Version {
		return ErrDepositChanged
	}
	return nil
}

// verified returns connect.ErrEmailUnverified for an act that needs a verified address if the operator has none.
func (s *Service) verified(by OperatorCaller, act OperatorAct) error {
	if act.NeedsVerifiedEmail() && s.deps.VerifyAddresses && !by.Operator.EmailVerified() {
		return connect.ErrEmailUnverified
	}
	return nil
}

// lockOwned locks and returns a deposit of the operator's account. Returns deposit_not_found for every other
// deposit.
func (s *Service) lockOwned(ctx context.Context, by OperatorCaller, depositID id.ID) (*deposit.Deposit, error) {
	d, err := s.deps.Deposits.LockRow(ctx, depositID)
	if err != nil {
		return nil, err
	}
	return d, owned(d, by.Account.ID)
}

// owned returns deposit_not_found for a deposit of another account.
func owned(d *deposit.Deposit, accountID id.ID) error {
	if d.AccountID != accountID {
		return deposit.ErrNotFound
	}
	return nil
}

// formRoute is the name of the route with which the idempotency keys of the operators' forms are stored.
const formRoute = "POST " + site.DepositsPath

// formKey turns the key of an operator's form into an idempotency key of the account. what is the content of
// the form, which becomes the key's fingerprint.
func formKey(by OperatorCaller, key [16]byte, what []string) *ports.IdempotencyKey {
	for i, part := range what {
		what[i] = strconv.Quote(part)
	}
	return &ports.IdempotencyKey{Owner: by.Account.ID, Route: formRoute, Key: key,
		Fingerprint: sha256.Sum256([]byte(strings.Join(what, " ")))}
}

// formResponse returns the stored response of an operator's form: the id of the form's deposit.
func formResponse(depositID id.ID) idempotent.Response {
	return idempotent.Response{Body: []byte(id.Deposit.Of(depositID))}
}

// audit returns the audit entry of an operator's act on a deposit.
func (s *Service) audit(
	by OperatorCaller, now time.Time, verb audit.Action, depositID id.ID, detail map[string]string,
) ports.AuditEntry {
	return audit.NewEntry(s.deps.Entropy, now, by.Operator.Actor(), verb, id.Deposit.Of(depositID), detail)
}
