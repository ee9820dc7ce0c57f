package checkout

import (
	"context"

	"partnerdeposits/core/secret"
	"partnerdeposits/ports"
)

// Return is the tenant coming back from the provider's page. That they came proves nothing: the provider is asked, and
// its word recorded. A page that was left without paying is closed, so that the next try is a payment of its own.
//
// Returns deposit.ErrNotFound, or service_unavailable when the provider cannot be asked; the tenant may reload.
func (s *Service) Return(ctx context.Context, token secret.Text) (Next, error) {
	now := s.deps.Clock.Now()
	d, err := s.deps.Deposits.DepositByToken(ctx, token)
	if err != nil {
		return Next{}, err
	}
	payment, err := s.feeUnderWay(ctx, d.ID)
	if err != nil {
		return Next{}, err
	}
	if payment != nil {
		answer, err := s.deps.Provider.Lookup(ctx, payment.ID)
		if err == nil && (answer.Status == ports.ProviderOpen || answer.Status == ports.ProviderUnknown) {
			answer, err = s.deps.Provider.Close(ctx, payment.ID)
		}
		if err != nil {
			return Next{}, err
		}
		if err := s.record(ctx, *payment, answer, now); err != nil {
			return Next{}, err
		}
	}
	return s.show(ctx, token, now)
}
