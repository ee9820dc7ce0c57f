package checkout

import (
	"context"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/secret"
)

// Abandon is the tenant giving up. A payment that was quicker wins: the deposit is then secured.
//
// Returns deposit.ErrNotFound, or service_unavailable when the provider cannot close its page; nothing was decided then.
func (s *Service) Abandon(ctx context.Context, token secret.Text) (Next, error) {
	now := s.deps.Clock.Now()
	d, err := s.deps.Deposits.DepositByToken(ctx, token)
	if err != nil {
		return Next{}, err
	}
	if open(d, now) {
		if err := s.end(ctx, d.ID, deposit.TenantAbandoned, now, nil); err != nil && !isOver(err) {
			return Next{}, err
		}
	}
	return s.show(ctx, token, now)
}
