package operators

import (
	"cmp"
	"context"
	"errors"
	"time"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/mailaddr"
	"partnerdeposits/core/twofactor"
	accountports "partnerdeposits/ports/accounts"
)

const (
	requestBatch = 20
	// requestsKeptFor is the longest time for which a request for a new password waits for a dispatcher to mail the
	// link. Afterwards the operator no longer expects the mail, and none is sent.
	requestsKeptFor = 30 * time.Minute
	// liveResets is the largest number of links to set a password that work at the same time for an operator.
	liveResets = 5
)

// RequestPasswordReset stores a request for a new password for an e-mail address. MailPasswordResets later mails the
// link if the address is an operator's. Neither the work here nor its result depends on whether the address is known.
//
// Returns connect.ErrInvalidEmail.
func (s *Service) RequestPasswordReset(ctx context.Context, email, locale string) error {
	if !mailaddr.Valid(email) {
		return connect.ErrInvalidEmail
	}
	r := accountports.PasswordResetRequest{ID: s.deps.Entropy.NewID(), Email: email, Locale: locale,
		CreatedAt: s.deps.Clock.Now()}
	return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		return s.deps.Tokens.InsertPasswordResetRequest(ctx, r)
	})
}

// MailPasswordResets takes a batch of stored password requests, from RequestPasswordReset and from log-ins that were
// locked out, and mails a link that sets a password to each address that belongs to an operator. more is true when
// further requests may wait, and false when none is left.
func (s *Service) MailPasswordResets(ctx context.Context) (more bool, err error) {
	now := s.deps.Clock.Now()
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		requests, err := s.deps.Tokens.TakePasswordResetRequests(ctx, requestBatch)
		if err != nil {
			return err
		}
		more = len(requests) == requestBatch
		for _, r := range requests {
			if stale(r, now) {
				continue
			}
			if err := s.mailReset(ctx, r, now); err != nil {
				return err
			}
		}
		return nil
	})
	return more && err == nil, err
}

func stale(r accountports.PasswordResetRequest, now time.Time) bool {
	return now.Sub(r.CreatedAt) > requestsKeptFor
}

func (s *Service) mailReset(ctx context.Context, r accountports.PasswordResetRequest, now time.Time) error {
	found, _, err := s.deps.Operators.OperatorByEmail(ctx, r.Email)
	if errors.Is(err, connect.ErrBadCredentials) {
		return nil
	}
	if err != nil {
		return err
	}
	o, err := s.deps.Operators.LockRow(ctx, found.ID)
	if err != nil {
		return err
	}
	o.Locale = cmp.Or(o.Locale, r.Locale)
	links, err := s.deps.Tokens.CountLiveTokens(ctx, o.ID, connect.TokenResetPassword, now)
	// The operator already has the largest allowed number of working links, so no further link is mailed.
	if err != nil || links >= liveResets {
		return err
	}
	return s.tokens.MailPasswordReset(ctx, o, r.LockedOut, now)
}

// ResetPassword sets a new password with the token of a mailed link, and ends every session. The link was
// mailed to the operator's address, so the address counts as verified from now on. If it was not verified
// before, two-factor codes are turned off as well: a stranger may have turned them on. The count of wrong
// passwords starts anew, and the network of this browser is remembered, so that the operator can log in from
// it even while others try passwords.
//
// Returns connect.ErrInvalidPassword, after which the link still works, or connect.ErrTokenVoid.
func (s *Service) ResetPassword(ctx context.Context, token, password string, from Browser) error {
	// Check the token of the mailed link before the hash of the new password, because the hash is slow.
	if _, err := s.FindMailToken(ctx, token, connect.TokenResetPassword); err != nil {
		return err
	}
	if !connect.ValidPassword(password) {
		return connect.ErrInvalidPassword
	}
	hash, err := s.deps.Passwords.Hash(ctx, password, accountports.PasswordCaller{Known: true})
	if err != nil {
		return err
	}
	now := s.deps.Clock.Now()
	return s.withToken(ctx, token, now, func(ctx context.Context, _ connect.MailedToken, o connect.Operator) error {
		f, err := s.deps.TwoFactors.LockRow(ctx, o.ID)
		if err != nil {
			return err
		}
		switch {
		case s.tokens.HasUnverifiedEmail(o):
			err = s.firstProof(ctx, o, f, now)
		// While two-factor codes are on, a mailed link does not make the browser's network one of the operator's
		// known networks: otherwise each such link would allow more tries of codes.
		case f.Enabled():
			from.Network = ""
		}
		if err == nil {
			err = s.authenticator.RememberNetwork(ctx, o, from, now)
		}
		if err != nil {
			return err
		}
		return s.changedByOperator(ctx, o, withPassword(o, hash, s.tokens.HasUnverifiedEmail(o), now), mails.PasswordChanged,
			now)
	}, connect.TokenResetPassword)
}

// withPassword returns a copy of the operator with a password that was set by a mailed link. opens is true if the
// operator's address counts as verified afterwards or needs no verification, and false otherwise.
func withPassword(o connect.Operator, hash string, opens bool, now time.Time) connect.Operator {
	o.PasswordHash = hash
	if opens {
		o.VerifiedAt = now
	}
	return o
}

// firstProof turns off the second factor f of an operator whose address is verified for the first time, by a
// password reset, and writes the time to the audit log. The account's links to partners and its deposits stay,
// and the operator's first page shows them.
func (s *Service) firstProof(ctx context.Context, o connect.Operator, f *twofactor.SecondFactor, now time.Time) error {
	if err := s.deps.TwoFactors.Delete(ctx, o.ID); err != nil {
		return err
	}
	if f.Enabled() {
		if err := s.codes.NotifyOfChange(ctx, o, mails.TwoFactorOff, now); err != nil {
			return err
		}
	}
	return s.audit(ctx, o, audit.OperatorProveEmailByReset, now)
}
