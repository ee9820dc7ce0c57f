// Package operators signs operators up, in and out, and keeps their accounts: verified addresses, passwords, sessions.
// app/accounts/connections signs up and in with a partner's connect URL.
package operators

import (
	"context"
	"time"

	"partnerdeposits/app/accounts/signin"
	"partnerdeposits/core/connect"
	accountports "partnerdeposits/ports/accounts"
	ports "partnerdeposits/ports/platform"
)

// SignedIn is an operator with a new session, Browser the origin of a sign-in.
type (
	SignedIn = signin.SignedIn
	Browser  = signin.Browser
)

// Deps holds the capabilities of the use cases.
type Deps struct {
	UnitOfWork  ports.UnitOfWork
	SignIn      signin.SignIn
	Operators   accountports.Operators
	Sessions    accountports.Sessions
	TwoFactors  accountports.TwoFactors
	HalfSignIns accountports.HalfSignIns
	Codes       accountports.OneTimeCodes
	Tokens      accountports.Tokens
	Mails       ports.Mails
	Audit       ports.AuditLog
	Passwords   accountports.Passwords
	Clock       ports.Clock
	Entropy     ports.Entropy

	DashboardURL string // DASHBOARD_BASE_URL, without a slash at its end
	// VerifyAddresses says that mails are sent, so that addresses can be verified (SMTP_URL).
	VerifyAddresses bool
	SessionIdle     time.Duration // SESSION_IDLE
}

// Service runs the use cases.
type Service struct {
	deps          Deps
	authenticator signin.Authenticator
	tokens        signin.Tokens
	codes         signin.Codes
}

// New makes the service.
func New(deps Deps) *Service {
	return &Service{
		deps: deps, authenticator: deps.SignIn.Authenticator, tokens: deps.SignIn.Tokens, codes: deps.SignIn.Codes,
	}
}

// SignUp creates an operator, an account and a session, and mails the link that verifies the address.
//
// Returns connect.ErrInvalidEmail, ErrInvalidPassword, ErrInvalidCompany or ErrEmailTaken.
func (s *Service) SignUp(ctx context.Context, form connect.SignUp, from Browser) (SignedIn, error) {
	now := s.deps.Clock.Now()
	o, a, err := s.authenticator.NewOperator(ctx, form, from, now)
	if err != nil {
		return SignedIn{}, err
	}
	var in SignedIn
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) (err error) {
		if err := s.deps.Operators.Insert(ctx, o, a); err != nil {
			return err
		}
		if err := s.tokens.AskToVerify(ctx, o, now); err != nil {
			return err
		}
		in, err = s.authenticator.BeginSession(ctx, o, a, from, now)
		return err
	})
	return in, err
}

// LogIn checks the password and begins a session, or a half sign-in for an operator whose codes are on (CompleteLogIn).
//
// Returns the errors of signin.Authenticator.Authenticate.
func (s *Service) LogIn(ctx context.Context, email, password string, from Browser) (SignedIn, error) {
	now := s.deps.Clock.Now()
	o, a, err := s.authenticator.Authenticate(ctx, email, password, from, now)
	if err != nil {
		return SignedIn{}, err
	}
	var in SignedIn
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) (err error) {
		in, err = s.authenticator.Begin(ctx, o, a, from, now)
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
	return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		return s.deps.Sessions.DeleteSession(ctx, hash)
	})
}

// CurrentOperator gives the operator and the account of a session.
//
// Returns connect.ErrBadCredentials for an unknown token or an ended session.
func (s *Service) CurrentOperator(ctx context.Context, token string) (connect.Operator, connect.Account, error) {
	hash, ok := signin.TokenHash(token)
	if !ok {
		return connect.Operator{}, connect.Account{}, connect.ErrBadCredentials
	}
	return s.deps.Sessions.OperatorBySession(ctx, hash, s.deps.Clock.Now(), s.deps.SessionIdle)
}

// Unverified reports whether the address of an operator has still to be verified. It has not where no mails are sent.
func (s *Service) Unverified(o connect.Operator) bool { return s.tokens.Open(o) }
