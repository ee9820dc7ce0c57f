package operators

import (
	"context"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/mailaddr"
)

// MailPasswordResetByAdmin mails an operator a link that sets a password. A newEmail, for a lost mailbox, replaces
// the address first and ends all sessions; "" keeps the address.
//
// Returns connect.ErrBadCredentials for an unknown operator, connect.ErrInvalidEmail or connect.ErrEmailTaken.
func (s *Service) MailPasswordResetByAdmin(ctx context.Context, operatorID id.ID, newEmail string) (mailed string,
	err error) {
	if newEmail != "" && !mailaddr.Valid(newEmail) {
		return "", connect.ErrInvalidEmail
	}
	now := s.deps.Clock.Now()
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		o, err := s.deps.Operators.LockRow(ctx, operatorID)
		if err != nil {
			return err
		}
		detail := map[string]string{}
		if newEmail != "" && newEmail != o.Email {
			before := o
			o = movedTo(o, newEmail)
			detail["newEmail"] = "yes"
			if err := s.credentialsChanged(ctx, before, o, mails.EmailChanged, now); err != nil {
				return err
			}
		}
		mailed = o.Email
		if err := s.tokens.MailPasswordReset(ctx, o, false, now); err != nil {
			return err
		}
		subject := id.Operator.Of(o.ID)
		entry := audit.NewEntry(s.deps.Entropy, now, actor.Staff, audit.OperatorMailPasswordReset, subject, detail)
		return s.deps.Audit.Append(ctx, entry)
	})
	return mailed, err
}

// EndSessionsByAdmin ends every session of an operator and returns their number.
//
// Returns connect.ErrBadCredentials for an unknown operator.
func (s *Service) EndSessionsByAdmin(ctx context.Context, operatorID id.ID) (n int, err error) {
	now := s.deps.Clock.Now()
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) (err error) {
		if _, err = s.deps.Operators.LockRow(ctx, operatorID); err != nil {
			return err
		}
		if n, err = s.deps.Sessions.DeleteSessionsOfOperator(ctx, operatorID); err != nil {
			return err
		}
		if err := s.deps.HalfSignIns.DeleteOfOperator(ctx, operatorID); err != nil {
			return err
		}
		subject := id.Operator.Of(operatorID)
		entry := audit.NewEntry(s.deps.Entropy, now, actor.Staff, audit.OperatorEndSessions, subject, nil)
		return s.deps.Audit.Append(ctx, entry)
	})
	return n, err
}
