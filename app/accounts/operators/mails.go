package operators

import (
	"context"

	"partnerdeposits/core/connect"
)

// WantsEndingCoverMails reports whether the operator receives mails about deposits whose cover ends soon; false:
// the operator has turned them off.
func (s *Service) WantsEndingCoverMails(ctx context.Context, o connect.Operator) (bool, error) {
	return s.deps.Operators.WantsCoverMails(ctx, o.ID)
}

// SetEndingCoverMails turns the operator's mails about covers that end on or off.
func (s *Service) SetEndingCoverMails(ctx context.Context, o connect.Operator, wanted bool) error {
	return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		return s.deps.Operators.SetCoverMails(ctx, o.ID, wanted)
	})
}
