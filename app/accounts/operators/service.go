// Package operators signs operators up, in and out, and manages their accounts.
package operators

import (
	"context"
	"time"

	"partnerdeposits/app/accounts/signin"
	"partnerdeposits/core/connect"
	accountports "partnerdeposits/ports/accounts"
	ports "partnerdeposits/ports/platform"
)

// Browser is the browser and network from which an operator signs in.
type (
	SignInResult = signin.AuthenticationResult
	Browser      = signin.Browser
)

type Deps struct {
	UnitOfWork  ports.UnitOfWork
	SignIn      signin.Parts
	Operators   accountports.OperatorStore
	Sessions    accountports.SessionStore
	TwoFactors  accountports.TwoFactorStore
	HalfSignIns accountports.HalfSignInStore
	Codes       accountports.OneTimeCodes
	Tokens      accountports.MailTokenStore
	Mails       ports.MailQueue
	Audit       ports.AuditLog
	Passwords   accountports.PasswordHasher
	Clock       ports.Clock
	Entropy     ports.Entropy

	// The setting DASHBOARD_BASE_URL, without a slash at its end.
	DashboardURL string
	// VerifyAddresses reports whether mails can be sent, so that addresses are verified.
	VerifyAddresses bool
	SessionIdle     time.Duration // The setting SESSION_IDLE, the time after which an unused session ends.
}

type Service struct {
	deps          Deps
	authenticator signin.Authenticator
	tokens        signin.MailTokens
	codes         signin.TwoFactorCodes
}

func New(deps Deps) *Service {
	return &Service{
		deps: deps, authenticator: deps.SignIn.Authenticator, tokens: deps.SignIn.Tokens, codes: deps.SignIn.Codes,
	}
}

// SignUp creates an operator with an account and a session.
//
// Returns connect.ErrInvalidEmail, ErrInvalidPassword, ErrInvalidCompany or ErrEmailTaken.
func (s *Service) SignUp(ctx context.Context, form connect.SignUpForm, from Browser) (SignInResult, error) {
	now := s.deps.Clock.Now()
	o, a, err := s.authenticator.NewOperator(ctx, form, from, now)
	if err != nil {
		return SignInResult{}, err
	}
	var in SignInResult
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) (err error) {
		if err := s.deps.Operators.Insert(ctx, o, a); err != nil {
			return err
		}
		if err := s.tokens.MailVerificationIfNeeded(ctx, o, now); err != nil {
			return err
		}
		in, err = s.authenticator.BeginSession(ctx, o, a, from, now)
		return err
	})
	return in, err
}

// LogIn checks an operator's password and begins a session, or a half sign-in with two-factor codes on.
//
// Returns the errors of signin.Authenticator.Authenticate.
func (s *Service) LogIn(ctx context.Context, email, password string, from Browser) (SignInResult, error) {
	now := s.deps.Clock.Now()
	o, a, err := s.authenticator.Authenticate(ctx, email, password, from, now)
	if err != nil {
		return SignInResult{}, err
	}
	var in SignInResult
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) (err error) {
		in, err = s.authenticator.BeginSignIn(ctx, o, a, from, now)
		return err
	})
	return in, err
}

// LogOut ends the session with this token; an unknown token is no error.
func (s *Service) LogOut(ctx context.Context, token string) error {
	hash, ok := signin.TokenHash(token)
	if !ok {
		return nil
	}
	return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		return s.deps.Sessions.DeleteSession(ctx, hash)
	})
}

// FindCurrentOperator returns the operator and account of a session, or connect.ErrBadCredentials for an unknown or
// ended one.
func (s *Service) FindCurrentOperator(ctx context.Context, token string) (connect.Operator, connect.Account, error) {
	hash, ok := signin.TokenHash(token)
	if !ok {
		return connect.Operator{}, connect.Account{}, connect.ErrBadCredentials
	}
	return s.deps.Sessions.OperatorBySession(ctx, hash, s.deps.Clock.Now(), s.deps.SessionIdle)
}

// HasUnverifiedEmail reports whether the operator's address must still be verified; false when no mails are sent.
func (s *Service) HasUnverifiedEmail(o connect.Operator) bool { return s.tokens.HasUnverifiedEmail(o) }
