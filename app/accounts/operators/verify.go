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

// MailVerificationLink mails the link that verifies the operator's address, unless it is verified.
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

// mailsLeft returns rate_limited if the operator has received as many mails of the kind as an hour allows.
func (s *Service) mailsLeft(ctx context.Context, o connect.Operator, kind connect.TokenKind, now time.Time) error {
	n, err := s.deps.Tokens.CountTokens(ctx, o.ID, kind, now.Add(-time.Hour))
	if err != nil {
		return err
	}
	return mailAllowed(n)
}

// mailAllowed returns rate_limited if verifyMailsPerHour mails were sent within the hour.
func mailAllowed(sent int) error {
	if sent >= verifyMailsPerHour {
		return fault.ErrRateLimited.WithRetryAfter(time.Hour)
	}
	return nil
}

var verifying = []connect.TokenKind{connect.TokenVerifyEmail, connect.TokenChangeEmail}

// FindVerificationToken returns the token of a link that verifies an address. asks is true when the browser is not
// signed in to the account, so that the password is needed.
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

// signedInAs returns the operator and account of the browser's session; zero without one.
func (s *Service) signedInAs(ctx context.Context, from Browser) (connect.Operator, connect.Account, error) {
	o, a, err := s.FindCurrentOperator(ctx, from.Session)
	if errors.Is(err, connect.ErrBadCredentials) {
		return connect.Operator{}, connect.Account{}, nil
	}
	return o, a, err
}

// VerifyEmail marks the address as the operator's own, by a mailed link; a new address replaces the old one and
// ends all sessions. A browser that is not signed in must send the password: otherwise the owner of a mailbox would
// verify an account that a stranger made with the address.
//
// Returns connect.ErrTokenVoid, connect.ErrEmailTaken, and the errors of signin.Authenticator.Authenticate for the
// password.
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
