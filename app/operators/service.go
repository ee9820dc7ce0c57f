// Package operators signs operators up, in and out, without a partner being involved.
// With one, package connections does.
package operators

import (
	"context"

	"partnerdeposits/app/internal/signin"
	"partnerdeposits/core/connect"
	"partnerdeposits/ports"
)

// SignedIn is an operator with a fresh session.
type SignedIn = signin.SignedIn

// Deps are what the service stands on.
type Deps struct {
	UnitOfWork ports.UnitOfWork
	Operators  ports.OperatorReader
	Passwords  ports.Passwords
	Clock      ports.Clock
	Entropy    ports.Entropy
}

// Service signs operators up, in and out.
type Service struct {
	deps          Deps
	authenticator signin.Authenticator
}

// New makes the service.
func New(deps Deps) *Service {
	return &Service{deps: deps, authenticator: signin.Authenticator{Operators: deps.Operators, Passwords: deps.Passwords, Entropy: deps.Entropy}}
}

// SignUp makes an operator, its account and a session that replaces the one the browser had ("": none).
//
// Returns connect.ErrInvalidEmail, ErrInvalidPassword, ErrInvalidCompany or ErrEmailTaken.
func (s *Service) SignUp(ctx context.Context, form connect.SignUp, replaced string) (SignedIn, error) {
	now := s.deps.Clock.Now()
	o, a, err := s.authenticator.NewOperator(ctx, form, now)
	if err != nil {
		return SignedIn{}, err
	}
	var in SignedIn
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) (err error) {
		if err := repos.Operators.Insert(ctx, o, a); err != nil {
			return err
		}
		in, err = s.authenticator.BeginSession(ctx, repos, o, a, replaced, now)
		return err
	})
	return in, err
}

// LogIn begins a session after a password; it replaces the one the browser had ("": none).
//
// Returns connect.ErrBadCredentials, the same for an unknown e-mail and a wrong password.
func (s *Service) LogIn(ctx context.Context, email, password, replaced string) (SignedIn, error) {
	now := s.deps.Clock.Now()
	o, a, err := s.authenticator.Authenticate(ctx, email, password)
	if err != nil {
		return SignedIn{}, err
	}
	var in SignedIn
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) (err error) {
		in, err = s.authenticator.BeginSession(ctx, repos, o, a, replaced, now)
		return err
	})
	return in, err
}

// LogOut ends a session; it is no error where there is none.
func (s *Service) LogOut(ctx context.Context, token string) error {
	hash, ok := signin.TokenHash(token)
	if !ok {
		return nil
	}
	return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) error {
		return repos.Operators.DeleteSession(ctx, hash)
	})
}

// CurrentOperator tells whose session a token is.
//
// Returns connect.ErrBadCredentials for an unknown or expired one.
func (s *Service) CurrentOperator(ctx context.Context, token string) (connect.Operator, connect.Account, error) {
	hash, ok := signin.TokenHash(token)
	if !ok {
		return connect.Operator{}, connect.Account{}, connect.ErrBadCredentials
	}
	return s.deps.Operators.OperatorBySession(ctx, hash, s.deps.Clock.Now())
}
