package operators

import (
	"context"
	"time"

	"partnerdeposits/app/accounts/signin"
	"partnerdeposits/core/connect"
)

// Token gives the token of a link in a mail, for the page that asks before the link takes effect.
//
// Returns connect.ErrTokenVoid for a token of other kinds, and for one that is unknown, used, expired, or of a former
// address.
func (s *Service) Token(ctx context.Context, token string, kinds ...connect.TokenKind) (connect.Token, error) {
	t, _, err := s.token(ctx, token, kinds)
	return t, err
}

// token is Token, with the operator.
func (s *Service) token(ctx context.Context, token string,
	kinds []connect.TokenKind) (connect.Token, connect.Operator, error) {
	hash, ok := signin.TokenHash(token)
	if !ok {
		return connect.Token{}, connect.Operator{}, connect.ErrTokenVoid
	}
	t, o, err := s.deps.Tokens.TokenByHash(ctx, hash, s.deps.Clock.Now())
	if err != nil {
		return connect.Token{}, connect.Operator{}, err
	}
	return t, o, fits(t, o, kinds)
}

func fits(t connect.Token, o connect.Operator, kinds []connect.TokenKind) error {
	for _, kind := range kinds {
		if t.Kind == kind && t.Fits(o) {
			return nil
		}
	}
	return connect.ErrTokenVoid
}

// withToken runs do with the token and its operator, whom no other transaction then changes.
//
// Returns connect.ErrTokenVoid, as Token does.
func (s *Service) withToken(ctx context.Context, token string, now time.Time,
	do func(context.Context, connect.Token, connect.Operator) error, kinds ...connect.TokenKind) error {
	found, err := s.Token(ctx, token, kinds...)
	if err != nil {
		return err
	}
	return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.TwoFactors.Lock(ctx, found.OperatorID); err != nil {
			// before the operator, in the order of a log-in
			return err
		}
		o, err := s.deps.Operators.Lock(ctx, found.OperatorID)
		if err != nil {
			return err
		}
		t, err := s.deps.Tokens.Token(ctx, found.Hash, now) // again: it may have been used before the lock
		if err != nil {
			return err
		}
		if err := fits(t, o, kinds); err != nil {
			return err
		}
		return do(ctx, t, o)
	})
}
