package checkout

import (
	"context"

	"partnerdeposits/app/deposits/lifecycle"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/secret"
)

// Abandon cancels the deposit of a tenant who gives up the checkout, unless the payment succeeded first.
//
// Returns deposit.ErrNotFound, or service_unavailable when the provider cannot close its page; the deposit then
// stays as it is.
func (s *Service) Abandon(ctx context.Context, token secret.Text) (NextPage, error) {
	now := s.deps.Clock.Now()
	d, err := s.deps.Deposits.DepositByToken(ctx, token)
	if err != nil {
		return NextPage{}, err
	}
	if d.CheckoutOpen(now) {
		err := s.deps.Payments.EndCheckout(ctx, d.ID, deposit.TriggerTenantAbandoned, nil, now)
		if err != nil && !lifecycle.IsCheckoutOverError(err) {
			return NextPage{}, err
		}
	}
	return s.show(ctx, token, now)
}
