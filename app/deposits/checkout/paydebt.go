package checkout

import (
	"context"
	"errors"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/secret"
)

// StartDebtPayment returns the provider's page on which the tenant pays the debt of a captured deposit. For a debt
// that does not wait for the tenant, it returns the view of the deposit instead.
//
// Returns deposit.ErrNotFound, or service_unavailable when the provider cannot be reached.
func (s *Service) StartDebtPayment(ctx context.Context, token secret.Text) (NextPage, error) {
	now := s.deps.Clock.Now()
	d, err := s.deps.Deposits.DepositByToken(ctx, token)
	if err != nil {
		return NextPage{}, err
	}
	url, err := s.deps.Debts.OpenDebtPage(ctx, d, token, now)
	if errors.Is(err, deposit.ErrCollectionNotPayable) {
		return s.show(ctx, token, now)
	}
	return NextPage{PageURL: url}, err
}
