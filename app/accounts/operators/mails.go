package operators

import (
	"context"

	"partnerdeposits/core/connect"
)

func (s *Service) WantsEndingCoverMails(ctx context.Context, o connect.Operator) (bool, error) {
	return s.deps.Operators.WantsCoverMails(ctx, o.ID)
}

func (s *Service) SetEndingCoverMails(ctx context.Context, o connect.Operator, wanted bool) error {
	return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		return s.deps.Operators.SetCoverMails(ctx, o.ID, wanted)
	})
}
