// Package operators signs operators up, in and out, and manages their accounts: verified addresses,
// passwords, two-factor codes, sessions and settings. Sign-up and log-in at a partner's connect URL are in
// app/accounts/connections.
package operators

import (
	"context"
	"time"

	"partnerdeposits/app/accounts/signin"
	"partnerdeposits/core/connect"
	accountports "partnerdeposits/ports/accounts"
	ports "partnerdeposits/ports/platform"
)

// SignedIn is an operator with a new session. Browser is the browser and network from which an operator signs
// in.
type (
	SignInResult = signin.AuthenticationResult
	Browser      = signin.Browser
)

// Deps holds the repositories, clients and settings that the use cases of operators' accounts need.
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

	// The setting DASHBOARD_BASE_URL: the base URL of the operators' pages, without a slash at its end.
	DashboardURL string
	// VerifyAddresses reports whether e-mail addresses are verified. true: SMTP_URL is set and mails are sent;
	// false: no mail can be sent.
	VerifyAddresses bool
	SessionIdle     time.Duration // The setting SESSION_IDLE: the time after which an unused session ends.
}

// Service signs operators up, in and out, and manages their accounts.
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

// SignUp creates an operator with an account and a session, and mails the link that verifies the address.
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

// LogIn checks an operator's e-mail and password, and begins a session, or a half sign-in for an operator
// whose two-factor codes are on (CompleteLogIn).
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

// LogOut ends the session with this token. An unknown token is no error.
func (s *Service) LogOut(ctx context.Context, token string) error {
	hash, ok := signin.TokenHash(token)
	if !ok {
		return nil
	}
	return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		return s.deps.Sessions.DeleteSession(ctx, hash)
	})
}

// CurrentOperator returns the operator and the account of the session with this token.
//
// Returns connect.ErrBadCredentials for an unknown token or an ended session.
func (s *Service) CurrentOperator(ctx context.Context, token string) (connect.Operator, connect.Account, error) {
	hash, ok := signin.TokenHash(token)
	if !ok {
		return connect.Operator{}, connect.Account{}, connect.ErrBadCredentials
	}
	return s.deps.Sessions.OperatorBySession(ctx, hash, s.deps.Clock.Now(), s.deps.SessionIdle)
}

// HasUnverifiedEmail reports whether the operator's address has still to be verified. false: the address is verified,
// or the service sends no mails.
func (s *Service) HasUnverifiedEmail(o connect.Operator) bool { return s.tokens.HasUnverifiedEmail(o) }
