package operators

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/fault"
)

// MailVerificationLink mails the link that verifies the operator's address once more. For a verified address nothing
// is mailed.
//
// Returns rate_limited after five mails in an hour.
func (s *Service) MailVerificationLink(ctx context.Context, o connect.Operator) error {
	now := s.deps.Clock.Now()
	return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		current, err := s.deps.Operators.LockRow(ctx, o.ID)
		if err != nil || !s.tokens.HasUnverifiedEmail(current) {
			return err
		}
		if err := s.mailsLeft(ctx, current, connect.TokenVerifyEmail, now); err != nil {
			return err
		}
		return s.tokens.MailVerificationIfNeeded(ctx, current, now)
	})
}

// mailsLeft returns rate_limited if the operator has already received as many mails of the kind as an hour
// allows. The caller has locked the operator.
func (s *Service) mailsLeft(ctx context.Context, o connect.Operator, kind connect.TokenKind, now time.Time) error {
	n, err := s.deps.Tokens.CountTokens(ctx, o.ID, kind, now.Add(-time.Hour))
	if err != nil {
		return err
	}
	return mailAllowed(n)
}

// mailAllowed returns rate_limited if verifyMailsPerHour mails of one kind have been sent to an operator within
// the last hour.
func mailAllowed(sent int) error {
	if sent >= verifyMailsPerHour {
		return fault.ErrRateLimited.WithRetryAfter(time.Hour)
	}
	return nil
}

// verifying lists the kinds of mail tokens whose links verify an address.
var verifying = []connect.TokenKind{connect.TokenVerifyEmail, connect.TokenChangeEmail}

// FindVerificationToken returns the token of a link that verifies an address, for the page that asks for
// confirmation before the link takes effect. asks is true when the browser is not signed in to the account, so
// that the confirmation needs the account's password; else false.
//
// Returns connect.ErrTokenVoid for a link that no longer works.
func (s *Service) FindVerificationToken(ctx context.Context, token string,
	from Browser) (t connect.MailedToken, asks bool, err error) {
	t, o, err := s.token(ctx, token, verifying)
	if err != nil {
		return t, false, err
	}
	current, _, err := s.signedInAs(ctx, from)
	return t, current.ID != o.ID, err
}

// signedInAs returns the operator and account of the browser's session; both are zero for a browser without a
// session.
func (s *Service) signedInAs(ctx context.Context, from Browser) (connect.Operator, connect.Account, error) {
	o, a, err := s.CurrentOperator(ctx, from.Session)
	if errors.Is(err, connect.ErrBadCredentials) {
		return connect.Operator{}, connect.Account{}, nil
	}
	return o, a, err
}

// VerifyEmail marks the address as the operator's own, by the token of a mailed link. A new address replaces
// the old one: all sessions end, this browser begins a new one, and a notice is mailed to the old address. A
// browser that is not signed in to the account must also send its password. Otherwise, if a stranger had signed
// up with the address, a click by the owner of the mailbox would verify the stranger's account.
//
// Returns connect.ErrTokenVoid, the errors of signin.Authenticator.Authenticate for the password, or
// connect.ErrEmailTaken for a new address that another operator has taken meanwhile. The returned session is
// empty unless a session begins.
func (s *Service) VerifyEmail(ctx context.Context, token, password string, from Browser) (in SignInResult, err error) {
	now := s.deps.Clock.Now()
	_, owner, err := s.token(ctx, token, verifying)
	if err != nil {
		return SignInResult{}, err
	}
	current, account, err := s.signedInAs(ctx, from)
	if err == nil && current.ID != owner.ID {
		err = s.ownPassword(ctx, owner, password, from, now)
	}
	if err != nil {
		return SignInResult{}, err
	}
	err = s.withToken(ctx, token, now, func(ctx context.Context, t connect.MailedToken, o connect.Operator) error {
		in = SignInResult{}
		before := o
		o.VerifiedAt = now
		if t.Kind == connect.TokenVerifyEmail {
			if err := s.deps.Tokens.MarkTokensUsed(ctx, o.ID, now, connect.TokenVerifyEmail); err != nil {
				return err
			}
			if err := s.deps.Operators.Update(ctx, o); err != nil {
				return err
			}
			return s.audit(ctx, o, audit.OperatorVerifyEmail, now)
		}
		o.Email = t.Email
		if err := s.changedByOperator(ctx, before, o, mails.EmailChanged, now); err != nil {
			return err
		}
		if current.ID != o.ID {
			return nil
		}
		in, err = s.authenticator.BeginSession(ctx, o, account, from, now)
		return err
	}, verifying...)
	return in, err
}
