package operators

import (
	"context"

	"partnerdeposits/core/connect"
	"partnerdeposits/ports"
)

// WantsCoverMails reports whether the operator gets mails about covers that end.
func (s *Service) WantsCoverMails(ctx context.Context, o connect.Operator) (bool, error) {
	return s.deps.Notices.WantsCoverMails(ctx, o.ID)
}

// ChangeCoverMails turns the mails about covers that end on or off.
func (s *Service) ChangeCoverMails(ctx context.Context, o connect.Operator, wanted bool) error {
	return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) error {
		return repos.OperatorNotices.SetCoverMails(ctx, o.ID, wanted)
	})
}
