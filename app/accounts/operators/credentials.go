package operators

import (
	"context"
	"time"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
)

var verbs = map[mails.AccountChange]audit.Action{
	mails.PasswordChanged: audit.OperatorChangePassword, mails.EmailChangeRequested: audit.OperatorRequestEmailChange,
	mails.EmailChanged: audit.OperatorChangeEmail,
}

func (s *Service) changedByOperator(ctx context.Context, before, o connect.Operator, change mails.AccountChange,
	now time.Time) error {
	if err := s.credentialsChanged(ctx, before, o, change, now); err != nil {
		return err
	}
	return s.audit(ctx, o, verbs[change], now)
}

// credentialsChanged stores an operator's changed credentials, ends all sessions, voids earlier mailed links and
// mails a notice to the former address.
func (s *Service) credentialsChanged(ctx context.Context, before, o connect.Operator, change mails.AccountChange,
	now time.Time) error {
	if err := s.deps.Operators.Update(ctx, o); err != nil {
		return err
	}
	if err := s.deps.Tokens.MarkTokensUsed(ctx, o.ID, now, connect.TokenKinds...); err != nil {
		return err
	}
	if err := s.endAll(ctx, o); err != nil {
		return err
	}
	told := mails.AccountChangeNotice{Operator: before, Change: change, DashboardURL: s.deps.DashboardURL}
	return s.deps.Mails.Enqueue(ctx, told.Mail(s.deps.Entropy.NewID(), now))
}

func (s *Service) audit(
	ctx context.Context, o connect.Operator, verb audit.Action, now time.Time,
) error {
	return s.deps.Audit.Append(ctx, audit.NewEntry(s.deps.Entropy, now, o.Actor(), verb, id.Operator.Of(o.ID), nil))
}
