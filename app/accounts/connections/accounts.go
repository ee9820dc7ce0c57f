package connections

import (
	"cmp"
	"context"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/core/partner"
	ports "partnerdeposits/ports/platform"
)

type AccountView struct {
	Account  connect.Account
	Operator connect.Operator
	Link     *connect.Link   // The account's link to a partner; nil for none.
	Partner  partner.Partner // The linked partner; zero for none.
}

// DepositCeiling returns the largest amount of a deposit for the account: its own ceiling, or the service's
// default.
func (v AccountView) DepositCeiling() money.Cents {
	return cmp.Or(v.Account.MaxAmountCents, deposit.DefaultMaxAmount)
}

// FindAccount returns an account with its operator and link, or connect.ErrAccountNotFound.
func (s *Service) FindAccount(ctx context.Context, accountID id.ID) (AccountView, error) {
	a, o, err := s.deps.Operators.AccountByID(ctx, accountID)
	if err != nil {
		return AccountView{}, err
	}
	v := AccountView{Account: a, Operator: o}
	if v.Link, err = s.deps.Links.ActiveLink(ctx, accountID); err != nil || v.Link == nil {
		return v, err
	}
	v.Partner, err = s.deps.Partners.PartnerByID(ctx, v.Link.PartnerID)
	return v, err
}

func (s *Service) ListAccounts(ctx context.Context, page ports.Page) (ports.ListPage[connect.Account], error) {
	return s.deps.Operators.Accounts(ctx, page)
}

func validCeiling(maximum money.Cents) error {
	if maximum != 0 && (maximum < deposit.MinAmount || maximum > deposit.MaxAccountCeiling) {
		return fault.ErrInvalidField.WithField("maxAmount", "must be 0 or between %s and %s EUR", deposit.MinAmount,
			deposit.MaxAccountCeiling)
	}
	return nil
}

// SetDepositCeiling sets the largest amount of a deposit for an account; 0 restores the service's default.
//
// Returns connect.ErrAccountNotFound, or invalid_field for a ceiling below the smallest deposit or above
// deposit.MaxAccountCeiling.
func (s *Service) SetDepositCeiling(ctx context.Context, accountID id.ID, maximum money.Cents) error {
	if err := validCeiling(maximum); err != nil {
		return err
	}
	now := s.deps.Clock.Now()
	return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		if err := s.deps.Operators.SetDepositCeiling(ctx, accountID, maximum); err != nil {
			return err
		}
		detail := map[string]string{"maxAmount": maximum.String()}
		subject := id.Account.Of(accountID)
		entry := audit.NewEntry(s.deps.Entropy, now, actor.Staff, audit.AccountSetDepositCeiling, subject, detail)
		return s.deps.Audit.Append(ctx, entry)
	})
}
