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

var ErrDepositChanged = fault.New(fault.Conflict, "deposit_changed", "The deposit has changed since the page was opened.")

// OperatorCaller is a signed-in operator with an account.
type OperatorCaller struct {
	Operator connect.Operator
	Account  connect.Account
}

// act returns the history entry of an operator's change, without empty details.
func (by OperatorCaller) act(detail map[string]string) lifecycle.TransitionAuthor {
	set := map[string]string{}
	for k, v := range detail {
		if v != "" {
			set[k] = v
		}
	}
	return lifecycle.TransitionAuthor{Actor: by.Operator.Actor(), Detail: set}
}

type ActForm struct {
	DepositID id.ID
	// The version that the page showed; 0 when the act does not depend on it.
	Version int
	// The key of the form: a second sending has no second effect.
	Key [16]byte
}

// unchanged returns ErrChanged unless the deposit has the version that the page showed.
func (form ActForm) unchanged(d *deposit.Deposit) error {
	if d.Version != form.Version {
		return ErrDepositChanged
	}
	return nil
}

// verified returns connect.ErrEmailUnverified if the act needs a verified address and the operator has none.
func (s *Service) verified(by OperatorCaller, act OperatorAct) error {
	if act.NeedsVerifiedEmail() && s.deps.VerifyAddresses && !by.Operator.EmailVerified() {
		return connect.ErrEmailUnverified
	}
	return nil
}

// lockOwned locks a deposit of the operator's account, or returns deposit_not_found.
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

// The route under which the idempotency keys of operators' forms are stored.
const formRoute = "POST " + site.DepositsPath

// formKey turns a form's key into an idempotency key of the account, with the hash of what.
func formKey(by OperatorCaller, key [16]byte, what []string) *ports.IdempotencyKey {
	for i, part := range what {
		what[i] = strconv.Quote(part)
	}
	return &ports.IdempotencyKey{Owner: by.Account.ID, Route: formRoute, Key: key,
		Fingerprint: sha256.Sum256([]byte(strings.Join(what, " ")))}
}

// formResponse returns a form's stored response: the deposit's id.
func formResponse(depositID id.ID) idempotent.Response {
	return idempotent.Response{Body: []byte(id.Deposit.Of(depositID))}
}

func (s *Service) audit(
	by OperatorCaller, now time.Time, verb audit.Action, depositID id.ID, detail map[string]string,
) ports.AuditEntry {
	return audit.NewEntry(s.deps.Entropy, now, by.Operator.Actor(), verb, id.Deposit.Of(depositID), detail)
}
