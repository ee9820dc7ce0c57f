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

// ErrChanged refuses an operator's act on a deposit that is no longer as the page showed it.
var ErrChanged = fault.New(fault.Conflict, "deposit_changed", "The deposit has changed since the page was opened.")

// OperatorCaller is a signed-in operator with the account that the operator owns.
type OperatorCaller struct {
	Operator connect.Operator
	Account  connect.Account
}

// act is the author of an operator's change in the history of a deposit, with the non-empty details.
func (by OperatorCaller) act(detail map[string]string) lifecycle.By {
	set := map[string]string{}
	for k, v := range detail {
		if v != "" {
			set[k] = v
		}
	}
	return lifecycle.By{Actor: by.Operator.Actor(), Detail: set}
}

// DeskForm is the form of an act on the desk, with the deposit as its page showed it.
type DeskForm struct {
	DepositID id.ID
	Version   int // 0: the decision holds for every version
	// Key is the key of the form that was sent. A form that is sent twice has its effect once.
	Key [16]byte
}

// unchanged returns ErrChanged unless the deposit is as the page showed it.
func (form DeskForm) unchanged(d *deposit.Deposit) error {
	if d.Version != form.Version {
		return ErrChanged
	}
	return nil
}

// verified refuses an act that needs a verified address to an operator without one.
func (s *Service) verified(by OperatorCaller, act Act) error {
	if act.NeedsVerified() && s.deps.VerifyAddresses && !by.Operator.Verified() {
		return connect.ErrUnverified
	}
	return nil
}

// lockOwned locks and returns a deposit of the operator's account. Returns deposit_not_found for every other deposit.
func (s *Service) lockOwned(ctx context.Context, by OperatorCaller, depositID id.ID) (*deposit.Deposit, error) {
	d, err := s.deps.Deposits.ForUpdate(ctx, depositID)
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

// formRoute stands for the operator's forms among the routes of idempotency keys.
const formRoute = "POST " + site.Deposits

// formKey makes the key of a form an idempotency key of the account. what is the content of the form.
func formKey(by OperatorCaller, key [16]byte, what []string) *ports.IdempotencyKey {
	for i, part := range what {
		what[i] = strconv.Quote(part)
	}
	return &ports.IdempotencyKey{Owner: by.Account.ID, Route: formRoute, Key: key,
		Fingerprint: sha256.Sum256([]byte(strings.Join(what, " ")))}
}

// formResponse is the stored response of a form: the deposit that it was about.
func formResponse(depositID id.ID) idempotent.Response {
	return idempotent.Response{Body: []byte(id.Deposit.Of(depositID))}
}

// audit is the record of an operator's act on a deposit.
func (s *Service) audit(
	by OperatorCaller, now time.Time, verb audit.Verb, depositID id.ID, detail map[string]string,
) ports.AuditEntry {
	return audit.Entry(s.deps.Entropy, now, by.Operator.Actor(), verb, id.Deposit.Of(depositID), detail)
}
