package checkout

import (
	"context"
	"errors"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/secret"
)

// StartDebtPayment returns the provider's page for the debt of a captured deposit, or the view of a deposit without
// a debt to pay.
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
