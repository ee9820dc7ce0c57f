package operators

import (
	"context"
	"errors"
	"strings"
	"time"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/mailaddr"
	"partnerdeposits/core/zone"
	accountports "partnerdeposits/ports/accounts"
)

// ChangePassword replaces the operator's password, ends all sessions and begins a new one.
//
// Returns connect.ErrInvalidPassword for the new password, and the errors of signin.Authenticator.Authenticate for
// the current one.
func (s *Service) ChangePassword(ctx context.Context, o connect.Operator, current, password string,
	from Browser) (in SignInResult, err error) {
	if !connect.ValidPassword(password) {
		return SignInResult{}, connect.ErrInvalidPassword
	}
	now := s.deps.Clock.Now()
	seen, a, err := s.authenticator.Authenticate(ctx, o.Email, current, from, now)
	if err != nil {
		return SignInResult{}, err
	}
	hash, err := s.deps.Passwords.Hash(ctx, password, accountports.PasswordCaller{Network: from.Network, Known: true})
	if err != nil {
		return SignInResult{}, err
	}
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		before, err := s.lockSeen(ctx, seen)
		if err != nil {
			return err
		}
		after := before
		after.PasswordHash = hash
		if err := s.changedByOperator(ctx, before, after, mails.PasswordChanged, now); err != nil {
			return err
		}
		in, err = s.authenticator.BeginSession(ctx, after, a, from, now)
		return err
	})
	return in, err
}

// lockSeen locks an operator; connect.ErrBadCredentials if the password or address changed since it was checked.
func (s *Service) lockSeen(ctx context.Context, seen connect.Operator) (connect.Operator, error) {
	o, err := s.deps.Operators.LockRow(ctx, seen.ID)
	if err == nil {
		err = unchanged(o, seen)
	}
	return o, err
}

func unchanged(o, seen connect.Operator) error {
	if o.PasswordHash != seen.PasswordHash || o.Email != seen.Email {
		return connect.ErrBadCredentials
	}
	return nil
}

// ChangeEmail mails a link to the operator's new address, which takes effect when the link verifies it. Without
// mails it takes effect at once, unverified, with a new session. The owner of the address can reset the password,
// so the change needs a two-factor code if codes are on.
//
// Returns connect.ErrInvalidEmail, connect.ErrEmailTaken, rate_limited, twofactor.ErrWrongCode, ErrTooManyCodes,
// and the errors of signin.Authenticator.Authenticate.
func (s *Service) ChangeEmail(ctx context.Context, o connect.Operator, email, password, code string,
	from Browser) (in SignInResult, err error) {
	if !mailaddr.Valid(email) {
		return SignInResult{}, connect.ErrInvalidEmail
	}
	now := s.deps.Clock.Now()
	seen, a, err := s.authenticator.Authenticate(ctx, o.Email, password, from, now)
	if err != nil {
		return SignInResult{}, err
	}
	owner, _, err := s.deps.Operators.OperatorByEmail(ctx, email)
	if err := free(owner, err, o.ID); err != nil {
		return SignInResult{}, err
	}
	err = s.codes.LimitTries(ctx, seen, from, now, func() error {
		return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
			if _, err := s.codes.Accept(ctx, seen, code, now); err != nil {
				return err
			}
			before, err := s.lockSeen(ctx, seen)
			switch {
			case err != nil:
				return err
			case s.deps.VerifyAddresses:
				return s.mailNewAddress(ctx, before, email, now)
			}
			after := movedTo(before, email)
			if err := s.changedByOperator(ctx, before, after, mails.EmailChanged, now); err != nil {
				return err
			}
			in, err = s.authenticator.BeginSession(ctx, after, a, from, now)
			return err
		})
	})
	return in, err
}

// mailNewAddress mails a link to an operator's new address, and a notice to the old one.
func (s *Service) mailNewAddress(ctx context.Context, o connect.Operator, email string, now time.Time) error {
	if err := s.mailsLeft(ctx, o, connect.TokenChangeEmail, now); err != nil {
		return err
	}
	if err := s.tokens.MailVerificationLink(ctx, o, connect.TokenChangeEmail, email, now); err != nil {
		return err
	}
	told := mails.AccountChangeNotice{Operator: o, Change: mails.EmailChangeRequested, DashboardURL: s.deps.DashboardURL}
	if err := s.deps.Mails.Enqueue(ctx, told.Mail(s.deps.Entropy.NewID(), now)); err != nil {
		return err
	}
	return s.audit(ctx, o, verbs[mails.EmailChangeRequested], now)
}

// free returns ErrEmailTaken for an address that belongs to another operator. owner and err are the results of
// OperatorByEmail. The operator may change the case of letters.
func free(owner connect.Operator, err error, operatorID id.ID) error {
	switch {
	case err == nil && owner.ID != operatorID:
		return connect.ErrEmailTaken
	case errors.Is(err, connect.ErrBadCredentials):
		return nil
	}
	return err
}

func movedTo(o connect.Operator, email string) connect.Operator {
	o.Email, o.VerifiedAt = email, time.Time{}
	return o
}

func (s *Service) RenameCompany(ctx context.Context, o connect.Operator, a connect.Account, name string) error {
	name = strings.TrimSpace(name)
	if !connect.ValidCompany(name) {
		return connect.ErrInvalidCompany
	}
	change := accountports.AccountChange{CompanyName: &name}
	return s.changeAccount(ctx, o, a, audit.AccountRename, change, a.CompanyName, name)
}

// ChangeContact sets the contact of an account that tenants see, or returns invalid_field.
func (s *Service) ChangeContact(ctx context.Context, o connect.Operator, a connect.Account, contact string) error {
	contact = strings.TrimSpace(contact)
	if !connect.ValidContact(contact) {
		return fault.ErrInvalidField.WithField("contact", "is neither an e-mail address nor a telephone number")
	}
	change := accountports.AccountChange{Contact: &contact}
	return s.changeAccount(ctx, o, a, audit.AccountChangeContact, change, a.Contact, contact)
}

// ChangeTimezone sets an account's time zone to one of zone.Names, or returns invalid_field.
func (s *Service) ChangeTimezone(ctx context.Context, o connect.Operator, a connect.Account, name string) error {
	if !zone.IsKnownName(name) {
		return fault.ErrInvalidField.WithField("timezone", "is not a time zone of the IANA database")
	}
	change := accountports.AccountChange{Timezone: &name}
	return s.changeAccount(ctx, o, a, audit.AccountChangeTimezone, change, a.Timezone, name)
}

// changeAccount changes a field of an account and writes both values to the audit log.
func (s *Service) changeAccount(ctx context.Context, o connect.Operator, a connect.Account, verb audit.Action,
	change accountports.AccountChange, from, to string) error {
	now := s.deps.Clock.Now()
	return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		if err := s.deps.Operators.ChangeAccount(ctx, a.ID, change); err != nil {
			return err
		}
		detail := map[string]string{"from": from, "to": to}
		return s.deps.Audit.Append(ctx,
			audit.NewEntry(s.deps.Entropy, now, o.Actor(), verb, id.Account.Of(a.ID), detail))
	})
}

// ChangeLanguage sets the language of the operator's pages and mails to one of connect.Locales.
func (s *Service) ChangeLanguage(ctx context.Context, o connect.Operator, locale string) error {
	if !connect.ValidLocale(locale) {
		return fault.ErrInvalidField.WithField("locale", "is not a language of the pages")
	}
	return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		current, err := s.deps.Operators.LockRow(ctx, o.ID)
		if err != nil {
			return err
		}
		current.Locale = locale
		return s.deps.Operators.Update(ctx, current)
	})
}
