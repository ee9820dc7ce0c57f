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
	// requestsKeptFor is the longest time for which a request for a new password waits: later no operator expects the
	// mail.
	requestsKeptFor = 30 * time.Minute
	// liveResets is the most links to set a password that work at the same time for an operator.
	liveResets = 5
)

// RequestPasswordReset stores a request for a new password; MailPasswordResets mails the link. Neither work nor
// result depends on whether the address is known.
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

// MailPasswordResets mails a link that sets a password to each operator in a batch of stored requests. more reports
// whether further requests may wait.
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

// ResetPassword sets a new password by a mailed link, verifies the address and ends every session. If the address
// was not verified before, it turns two-factor codes off: a stranger may have turned them on.
//
// Returns connect.ErrInvalidPassword, after which the link still works, or connect.ErrTokenVoid.
func (s *Service) ResetPassword(ctx context.Context, token, password string, from Browser) error {
	// Check the token of the mailed link before hashing the new password, which is slow.
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
		// With two-factor codes on, a mailed link does not make the network known: each link would allow more tries of
		// codes.
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

// withPassword returns a copy of the operator with a password set by a mailed link. opens is true if the address
// needs no further verification.
func withPassword(o connect.Operator, hash string, opens bool, now time.Time) connect.Operator {
	o.PasswordHash = hash
	if opens {
		o.VerifiedAt = now
	}
	return o
}

// firstProof turns off the second factor of an operator whose address is first verified by a password reset.
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
