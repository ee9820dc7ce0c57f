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
	// requestsKeptFor bounds the wait for a dispatcher. A mail that nobody expects any more is not sent.
	requestsKeptFor = 30 * time.Minute
	// liveResets bounds the links that set a password of an operator and work at the same time, whoever asks for them.
	liveResets = 5
)

// ForgotPassword notes that somebody wants a new password for an address. MailResets answers with a mail. Neither the
// work here nor its result depends on the address being known.
//
// Returns connect.ErrInvalidEmail.
func (s *Service) ForgotPassword(ctx context.Context, email, locale string) error {
	if !mailaddr.Valid(email) {
		return connect.ErrInvalidEmail
	}
	r := accountports.PasswordRequest{ID: s.deps.Entropy.NewID(), Email: email, Locale: locale,
		CreatedAt: s.deps.Clock.Now()}
	return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		return s.deps.Tokens.InsertPasswordRequest(ctx, r)
	})
}

// MailResets takes a batch of the requests of ForgotPassword and of log-ins that were locked out, and mails the link
// that sets a password to those addresses that are operators'. more reports that further requests may wait.
func (s *Service) MailResets(ctx context.Context) (more bool, err error) {
	now := s.deps.Clock.Now()
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		requests, err := s.deps.Tokens.TakePasswordRequests(ctx, requestBatch)
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

func stale(r accountports.PasswordRequest, now time.Time) bool {
	return now.Sub(r.CreatedAt) > requestsKeptFor
}

func (s *Service) mailReset(ctx context.Context, r accountports.PasswordRequest, now time.Time) error {
	found, _, err := s.deps.Operators.OperatorByEmail(ctx, r.Email)
	if errors.Is(err, connect.ErrBadCredentials) {
		return nil
	}
	if err != nil {
		return err
	}
	o, err := s.deps.Operators.Lock(ctx, found.ID)
	if err != nil {
		return err
	}
	o.Locale = cmp.Or(o.Locale, r.Locale)
	links, err := s.deps.Tokens.CountLiveTokens(ctx, o.ID, connect.TokenReset, now)
	if err != nil || links >= liveResets { // the mailbox has links that work
		return err
	}
	return s.tokens.MailReset(ctx, o, r.LockedOut, now)
}

// ResetPassword sets the password by the link of a mail, and ends every session. The link went to the operator's
// address, so the address is verified from now on. Where nobody had verified it, two-factor codes end, too: a stranger
// may have turned them on. The wrong passwords from before count no longer, and the operator logs in from this network
// whatever others try.
//
// Returns connect.ErrInvalidPassword, which leaves the link as it is, or connect.ErrTokenVoid.
func (s *Service) ResetPassword(ctx context.Context, token, password string, from Browser) error {
	if _, err := s.Token(ctx, token, connect.TokenReset); err != nil { // before the slow hash
		return err
	}
	if !connect.ValidPassword(password) {
		return connect.ErrInvalidPassword
	}
	hash, err := s.deps.Passwords.Hash(ctx, password, accountports.Turn{Known: true})
	if err != nil {
		return err
	}
	now := s.deps.Clock.Now()
	return s.withToken(ctx, token, now, func(ctx context.Context, _ connect.Token, o connect.Operator) error {
		f, err := s.deps.TwoFactors.Lock(ctx, o.ID)
		if err != nil {
			return err
		}
		switch {
		case s.tokens.Open(o):
			err = s.firstProof(ctx, o, f, now)
		case f.On(): // a mailbox alone makes no network known, or each link would give its reader more tries of codes
			from.Network = ""
		}
		if err == nil {
			err = s.authenticator.RememberNetwork(ctx, o, from, now)
		}
		if err != nil {
			return err
		}
		return s.changedByOperator(ctx, o, withPassword(o, hash, s.tokens.Open(o), now), mails.PasswordChanged, now)
	}, connect.TokenReset)
}

// withPassword is the operator with the password that was set by a link. opens tells that the link verifies the address
// too.
func withPassword(o connect.Operator, hash string, opens bool, now time.Time) connect.Operator {
	o.PasswordHash = hash
	if opens {
		o.VerifiedAt = now
	}
	return o
}

// firstProof removes the second factor f of an operator whose address nobody had verified, and notes the time. The
// links to partners and the deposits stay, and the operator's first page shows them (desk.Service.Earlier).
func (s *Service) firstProof(ctx context.Context, o connect.Operator, f *twofactor.Factor, now time.Time) error {
	if err := s.deps.TwoFactors.Delete(ctx, o.ID); err != nil {
		return err
	}
	if f.On() {
		if err := s.codes.Tell(ctx, o, mails.TwoFactorOff, now); err != nil {
			return err
		}
	}
	return s.audit(ctx, o, audit.OperatorFirstProof, now)
}
