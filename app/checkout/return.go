package checkout

import (
	"context"

	"partnerdeposits/core/secret"
)

// Return handles the tenant's way back from the provider's page. Coming back proves nothing, so the provider is asked. An
// unpaid page is closed, so that the next try is a new payment.
//
// Returns deposit.ErrNotFound, or service_unavailable when the provider cannot be reached; the tenant may reload.
func (s *Service) Return(ctx context.Context, token secret.Text) (Next, error) {
	now := s.deps.Clock.Now()
	d, err := s.deps.Deposits.DepositByToken(ctx, token)
	if err != nil {
		return Next{}, err
	}
	if err := s.deps.Payments.ConfirmFee(ctx, d.ID, now); err != nil {
		return Next{}, err
	}
	return s.show(ctx, token, now)
}
