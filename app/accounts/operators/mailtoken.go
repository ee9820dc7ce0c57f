package operators

import (
	"context"
	"time"

	"partnerdeposits/app/accounts/signin"
	"partnerdeposits/core/connect"
)

// FindMailToken returns the stored token of a link in a mail, before the link takes effect.
//
// Returns connect.ErrTokenVoid for a token that is unknown, used, expired, or mailed to a former address.
func (s *Service) FindMailToken(ctx context.Context, token string, kinds ...connect.TokenKind) (connect.MailedToken,
	error) {
	t, _, err := s.token(ctx, token, kinds)
	return t, err
}

func (s *Service) token(ctx context.Context, token string,
	kinds []connect.TokenKind) (connect.MailedToken, connect.Operator, error) {
	hash, ok := signin.TokenHash(token)
	if !ok {
		return connect.MailedToken{}, connect.Operator{}, connect.ErrTokenVoid
	}
	t, o, err := s.deps.Tokens.TokenWithOperator(ctx, hash, s.deps.Clock.Now())
	if err != nil {
		return connect.MailedToken{}, connect.Operator{}, err
	}
	return t, o, fits(t, o, kinds)
}

func fits(t connect.MailedToken, o connect.Operator, kinds []connect.TokenKind) error {
	for _, kind := range kinds {
		if t.Kind == kind && t.UsableBy(o) {
			return nil
		}
	}
	return connect.ErrTokenVoid
}

// withToken locks a mail token and its operator and runs do with both.
//
// Returns connect.ErrTokenVoid for a link that no longer works.
func (s *Service) withToken(ctx context.Context, token string, now time.Time,
	do func(context.Context, connect.MailedToken, connect.Operator) error, kinds ...connect.TokenKind) error {
	found, err := s.FindMailToken(ctx, token, kinds...)
	if err != nil {
		return err
	}
	return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.TwoFactors.LockRow(ctx, found.OperatorID); err != nil {
			// Lock the mail token before the operator, as a log-in does, to avoid a deadlock.
			return err
		}
		o, err := s.deps.Operators.LockRow(ctx, found.OperatorID)
		if err != nil {
			return err
		}
		// Read the token again: another request may have used it before the lock.
		t, err := s.deps.Tokens.LiveToken(ctx, found.Hash, now)
		if err != nil {
			return err
		}
		if err := fits(t, o, kinds); err != nil {
			return err
		}
		return do(ctx, t, o)
	})
}
