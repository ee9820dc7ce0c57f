// Package operators signs operators up, in and out. app/connections does so with a partner's connect URL.
package operators

import (
	"context"

	"partnerdeposits/app/internal/signin"
	"partnerdeposits/core/connect"
	"partnerdeposits/ports"
)

// SignedIn is an operator with a new session.
type SignedIn = signin.SignedIn

// Deps holds the capabilities of the use cases.
type Deps struct {
	UnitOfWork ports.UnitOfWork
	Operators  ports.OperatorReader
	Passwords  ports.Passwords
	Clock      ports.Clock
	Entropy    ports.Entropy
}

// Service runs the use cases.
type Service struct {
	deps          Deps
	authenticator signin.Authenticator
}

// New makes the service.
func New(deps Deps) *Service {
	return &Service{deps: deps, authenticator: signin.Authenticator{Operators: deps.Operators, Passwords: deps.Passwords, Entropy: deps.Entropy}}
}

// SignUp creates an operator, an account and a session. replaced is the browser's session token ("": none), whose session
// ends.
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

// LogIn checks the password and begins a session. replaced is the browser's session token ("": none), whose session ends.
//
// Returns connect.ErrBadCredentials for an unknown e-mail and for a wrong password.
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

// LogOut ends the session of the token. An unknown token is no error.
func (s *Service) LogOut(ctx context.Context, token string) error {
	hash, ok := signin.TokenHash(token)
	if !ok {
		return nil
	}
	return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) error {
		return repos.Operators.DeleteSession(ctx, hash)
	})
}

// CurrentOperator gives the operator and the account of a session.
//
// Returns connect.ErrBadCredentials for an unknown token or an expired session.
func (s *Service) CurrentOperator(ctx context.Context, token string) (connect.Operator, connect.Account, error) {
	hash, ok := signin.TokenHash(token)
	if !ok {
		return connect.Operator{}, connect.Account{}, connect.ErrBadCredentials
	}
	return s.deps.Operators.OperatorBySession(ctx, hash, s.deps.Clock.Now())
}
