package operators

import (
	"context"
	"time"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
)

// verbs are the changes of an account's credentials in the audit log.
var verbs = map[mails.AccountChange]audit.Verb{
	mails.PasswordChanged: audit.OperatorChangePassword, mails.EmailChanging: audit.OperatorEmailAsked,
	mails.EmailChanged: audit.OperatorChangeEmail,
}

// changedByOperator is credentialsChanged, with the operator in the audit log.
func (s *Service) changedByOperator(ctx context.Context, before, o connect.Operator, change mails.AccountChange,
	now time.Time) error {
	if err := s.credentialsChanged(ctx, before, o, change, now); err != nil {
		return err
	}
	return s.audit(ctx, o, verbs[change], now)
}

// credentialsChanged stores the operator, ends all sessions and all links of earlier mails, and tells the address from
// before.
func (s *Service) credentialsChanged(ctx context.Context, before, o connect.Operator, change mails.AccountChange,
	now time.Time) error {
	if err := s.deps.Operators.Update(ctx, o); err != nil {
		return err
	}
	if err := s.deps.Tokens.UseTokens(ctx, o.ID, now, connect.TokenKinds...); err != nil {
		return err
	}
	if err := s.endAll(ctx, o); err != nil {
		return err
	}
	told := mails.AccountChanged{Operator: before, Change: change, DashboardURL: s.deps.DashboardURL}
	return s.deps.Mails.Enqueue(ctx, told.Mail(s.deps.Entropy.NewID(), now))
}

// audit writes that the operator has acted on the operator's own account.
func (s *Service) audit(
	ctx context.Context, o connect.Operator, verb audit.Verb, now time.Time,
) error {
	return s.deps.Audit.Append(ctx, audit.Entry(s.deps.Entropy, now, o.Actor(), verb, id.Operator.Of(o.ID), nil))
}
