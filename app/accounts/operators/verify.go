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

// AskToVerify mails the link that verifies the operator's address once more. AskToVerify does nothing for a verified
// address.
//
// Returns rate_limited after five mails in an hour.
func (s *Service) AskToVerify(ctx context.Context, o connect.Operator) error {
	now := s.deps.Clock.Now()
	return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		current, err := s.deps.Operators.Lock(ctx, o.ID)
		if err != nil || !s.tokens.Open(current) {
			return err
		}
		if err := s.mailsLeft(ctx, current, connect.TokenVerify, now); err != nil {
			return err
		}
		return s.tokens.AskToVerify(ctx, current, now)
	})
}

// mailsLeft returns rate_limited if the operator has got as many mails of the kind as an hour allows. The operator is
// locked.
func (s *Service) mailsLeft(ctx context.Context, o connect.Operator, kind connect.TokenKind, now time.Time) error {
	n, err := s.deps.Tokens.CountTokens(ctx, o.ID, kind, now.Add(-time.Hour))
	if err != nil {
		return err
	}
	return mailAllowed(n)
}

// mailAllowed refuses a mail when verifyMailsPerHour mails of its kind were sent within the hour.
func mailAllowed(sent int) error {
	if sent >= verifyMailsPerHour {
		return fault.ErrRateLimited.WithRetryAfter(time.Hour)
	}
	return nil
}

// verifying are the kinds of the links that verify an address.
var verifying = []connect.TokenKind{connect.TokenVerify, connect.TokenChangeEmail}

// LinkToVerify gives the token of a link that verifies an address, for the page that asks before the link takes effect.
// asks says that Verify wants the password of the account from this browser.
//
// Returns connect.ErrTokenVoid, as Token does.
func (s *Service) LinkToVerify(ctx context.Context, token string,
	from Browser) (t connect.Token, asks bool, err error) {
	t, o, err := s.token(ctx, token, verifying)
	if err != nil {
		return t, false, err
	}
	current, _, err := s.signedInAs(ctx, from)
	return t, current.ID != o.ID, err
}

// signedInAs is CurrentOperator, with a zero operator for a browser without a session.
func (s *Service) signedInAs(ctx context.Context, from Browser) (connect.Operator, connect.Account, error) {
	o, a, err := s.CurrentOperator(ctx, from.Session)
	if errors.Is(err, connect.ErrBadCredentials) {
		return connect.Operator{}, connect.Account{}, nil
	}
	return o, a, err
}

// Verify takes the link of a mail: the address is the operator's. A new address replaces the old one, ends every
// session but the browser's, which begins anew, and the old address is told. A browser that is not signed in to the
// account needs its password. A stranger may have signed up with the address, and a click by the owner of its mailbox
// must not verify that account.
//
// Returns connect.ErrTokenVoid, the errors of signin.Authenticator.Authenticate for the password, or
// connect.ErrEmailTaken for a new address that another operator has taken meanwhile. SignedIn is zero unless a session
// begins.
func (s *Service) Verify(ctx context.Context, token, password string, from Browser) (in SignedIn, err error) {
	now := s.deps.Clock.Now()
	_, owner, err := s.token(ctx, token, verifying)
	if err != nil {
		return SignedIn{}, err
	}
	current, account, err := s.signedInAs(ctx, from)
	if err == nil && current.ID != owner.ID {
		err = s.ownPassword(ctx, owner, password, from, now)
	}
	if err != nil {
		return SignedIn{}, err
	}
	err = s.withToken(ctx, token, now, func(ctx context.Context, t connect.Token, o connect.Operator) error {
		in = SignedIn{}
		before := o
		o.VerifiedAt = now
		if t.Kind == connect.TokenVerify {
			if err := s.deps.Tokens.UseTokens(ctx, o.ID, now, connect.TokenVerify); err != nil {
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
