package operators

import (
	"context"
	"time"

	"partnerdeposits/app/accounts/signin"
	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/twofactor"
)

// TOTPEnrolment holds the secret for an authenticator app, and the URI of its QR code.
type TOTPEnrolment struct{ Secret, URI secret.Text }

func (s *Service) TwoFactorState(ctx context.Context, operatorID id.ID) (twofactor.State, error) {
	return s.deps.TwoFactors.StateOf(ctx, operatorID)
}

// FindHalfSignedInOperator returns the operator and account of a half sign-in, or twofactor.ErrSignInExpired.
func (s *Service) FindHalfSignedInOperator(ctx context.Context, token string) (connect.Operator, connect.Account,
	error) {
	return s.codes.HalfSignedInOperator(ctx, token, s.deps.Clock.Now())
}

// CompleteLogIn turns a half sign-in into a session with a two-factor code.
//
// Returns twofactor.ErrSignInExpired, ErrWrongCode or ErrTooManyCodes.
func (s *Service) CompleteLogIn(ctx context.Context, token, code string, from Browser) (SignInResult, error) {
	now := s.deps.Clock.Now()
	o, a, err := s.codes.HalfSignedInOperator(ctx, token, now)
	if err != nil {
		return SignInResult{}, err
	}
	var in SignInResult
	err = s.codes.LimitTries(ctx, o, from, now, func() error {
		return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) (err error) {
			half := signin.HalfSignInWithCode{Operator: o, Account: a, Token: token, Code: code, From: from}
			in, err = s.authenticator.CompleteHalfSignIn(ctx, s.codes, half, now)
			return err
		})
	})
	if err != nil {
		return SignInResult{}, err
	}
	return in, nil
}

// BeginTOTPEnrolment creates the secret for an authenticator app; log-ins need codes only after ConfirmTOTP. Codes
// shut out a person who resets the password by mail, so the address must be verified first.
//
// Returns connect.ErrEmailUnverified, the errors of signin.Authenticator.Authenticate, or
// twofactor.ErrAlreadyEnabled.
func (s *Service) BeginTOTPEnrolment(ctx context.Context, o connect.Operator, password string,
	from Browser) (TOTPEnrolment, error) {
	now := s.deps.Clock.Now()
	if s.HasUnverifiedEmail(o) {
		return TOTPEnrolment{}, connect.ErrEmailUnverified
	}
	if err := s.ownPassword(ctx, o, password, from, now); err != nil {
		return TOTPEnrolment{}, err
	}
	f := twofactor.SecondFactor{OperatorID: o.ID, Secret: twofactor.NewSecret(s.deps.Entropy.Bytes(twofactor.SecretBytes)),
		CreatedAt: now}
	err := s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		present, err := s.deps.TwoFactors.LockRow(ctx, o.ID)
		if err != nil {
			return err
		}
		if present.Enabled() {
			return twofactor.ErrAlreadyEnabled
		}
		return s.deps.TwoFactors.Save(ctx, f)
	})
	return s.enrolment(o, f), err
}

func (s *Service) enrolment(o connect.Operator, f twofactor.SecondFactor) TOTPEnrolment {
	return TOTPEnrolment{Secret: f.Secret, URI: s.deps.Codes.EnrolmentURI(f.Secret, o.Email)}
}

// TwoFactorResult holds the new session and recovery codes after a change of the second factor.
type TwoFactorResult struct {
	SignInResult
	RecoveryCodes []secret.Text
}

// ConfirmTOTP turns two-factor codes on, with the first code of the app. With twofactor.ErrWrongCode it also
// returns the secret, for the page.
//
// Returns connect.ErrEmailUnverified, twofactor.ErrAlreadyEnabled, ErrNotEnabled, ErrWrongCode or ErrTooManyCodes.
func (s *Service) ConfirmTOTP(ctx context.Context, o connect.Operator, a connect.Account, code string,
	from Browser) (done TwoFactorResult, waits TOTPEnrolment, err error) {
	now := s.deps.Clock.Now()
	// The secret for the authenticator app may have been created before the service verified addresses.
	if s.HasUnverifiedEmail(o) {
		return TwoFactorResult{}, TOTPEnrolment{}, connect.ErrEmailUnverified
	}
	err = s.codes.LimitTries(ctx, o, from, now, func() error {
		return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
			f, err := s.deps.TwoFactors.LockRow(ctx, o.ID)
			if err == nil {
				err = f.CheckConfirmable(now)
			}
			if err != nil {
				return err
			}
			waits = s.enrolment(o, *f)
			if err := f.AcceptCode(code, now, s.deps.Codes.Code); err != nil {
				return err
			}
			f.ConfirmedAt = now
			if err := s.deps.TwoFactors.Save(ctx, *f); err != nil {
				return err
			}
			done, err = s.changed(ctx, o, a, mails.TwoFactorOn, from, now)
			return err
		})
	})
	return done, waits, err
}

// ReplaceRecoveryCodes replaces recovery codes, with a two-factor code.
//
// Returns twofactor.ErrNotEnabled, ErrWrongCode or ErrTooManyCodes.
func (s *Service) ReplaceRecoveryCodes(ctx context.Context, o connect.Operator, a connect.Account, code string,
	from Browser) (TwoFactorResult, error) {
	return s.change(ctx, o, a, mails.RecoveryCodesReplaced, code, from)
}

// DisableTOTP turns two-factor codes off after a check of the password and a code.
//
// Returns the errors of signin.Authenticator.Authenticate, twofactor.ErrNotEnabled, ErrWrongCode or
// ErrTooManyCodes.
func (s *Service) DisableTOTP(ctx context.Context, o connect.Operator, a connect.Account, password, code string,
	from Browser) (SignInResult, error) {
	if err := s.ownPassword(ctx, o, password, from, s.deps.Clock.Now()); err != nil {
		return SignInResult{}, err
	}
	done, err := s.change(ctx, o, a, mails.TwoFactorOff, code, from)
	return done.SignInResult, err
}

func (s *Service) ownPassword(ctx context.Context, o connect.Operator, password string, from Browser,
	now time.Time) error {
	found, _, err := s.authenticator.Authenticate(ctx, o.Email, password, from, now)
	// Another operator took over the e-mail address after the session was read.
	if err == nil && found.ID != o.ID {
		return connect.ErrBadCredentials
	}
	return err
}

// change makes a change of the operator's second factor after a check of a code, in a single transaction.
func (s *Service) change(ctx context.Context, o connect.Operator, a connect.Account, what mails.TwoFactorChange,
	code string, from Browser) (done TwoFactorResult, err error) {
	now := s.deps.Clock.Now()
	err = s.codes.LimitTries(ctx, o, from, now, func() error {
		return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
			required, err := s.codes.Accept(ctx, o, code, now)
			if err != nil {
				return err
			}
			if !required {
				return twofactor.ErrNotEnabled
			}
			done, err = s.changed(ctx, o, a, what, from, now)
			return err
		})
	})
	return done, err
}

// changed replaces or deletes the recovery codes after a change of the second factor, ends all sessions, begins one
// for this browser and mails the operator.
func (s *Service) changed(ctx context.Context, o connect.Operator, a connect.Account, what mails.TwoFactorChange,
	from Browser, now time.Time) (done TwoFactorResult, err error) {
	if what == mails.TwoFactorOff {
		err = s.deps.TwoFactors.Delete(ctx, o.ID)
	} else {
		done.RecoveryCodes, err = s.codes.ReplaceRecoveryCodes(ctx, o.ID)
	}
	if err != nil {
		return done, err
	}
	if err := s.endAll(ctx, o); err != nil {
		return done, err
	}
	if done.SignInResult, err = s.authenticator.BeginSession(ctx, o, a, from, now); err != nil {
		return done, err
	}
	return done, s.codes.NotifyOfChange(ctx, o, what, now)
}

// DisableTOTPByAdmin turns off the two-factor codes of an operator who has lost them, and ends every session.
//
// Returns twofactor.ErrNotEnabled.
func (s *Service) DisableTOTPByAdmin(ctx context.Context, operatorID id.ID) error {
	now := s.deps.Clock.Now()
	return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		f, err := s.deps.TwoFactors.LockRow(ctx, operatorID)
		if err != nil {
			return err
		}
		if !f.Enabled() {
			return twofactor.ErrNotEnabled
		}
		o, err := s.deps.Operators.LockRow(ctx, operatorID)
		if err != nil {
			return err
		}
		if err := s.deps.TwoFactors.Delete(ctx, operatorID); err != nil {
			return err
		}
		if err := s.endAll(ctx, o); err != nil {
			return err
		}
		return s.codes.NotifyOfChange(ctx, o, mails.TwoFactorOffBySupport, now)
	})
}

func (s *Service) endAll(ctx context.Context, o connect.Operator) error {
	if _, err := s.deps.Sessions.DeleteSessionsOfOperator(ctx, o.ID); err != nil {
		return err
	}
	return s.deps.HalfSignIns.DeleteOfOperator(ctx, o.ID)
}
