package connections

import (
	"context"
	"time"

	"partnerdeposits/app/accounts/signin"
	"partnerdeposits/app/platform/audit"
	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
)

// SignUp creates an operator, account, session and link to the partner of the connect URL, in a single transaction.
//
// Returns the errors of VerifyURL, connect.ErrInvalidEmail, ErrInvalidPassword, ErrInvalidCompany or ErrEmailTaken.
func (s *Service) SignUp(ctx context.Context, r ConnectParams, form connect.SignUpForm, from Browser) (ConnectResult,
	error) {
	now := s.deps.Clock.Now()
	v, err := s.verify(ctx, r, now)
	if err != nil {
		return ConnectResult{}, err
	}
	o, a, err := s.authenticator.NewOperator(ctx, form, from, now)
	if err != nil {
		return ConnectResult{Verified: v}, err
	}
	var in SignInResult
	var outcome connect.LinkResult
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) (err error) {
		if err := s.deps.Operators.Insert(ctx, o, a); err != nil {
			return err
		}
		if err := s.tokens.MailVerificationIfNeeded(ctx, o, now); err != nil {
			return err
		}
		if in, err = s.authenticator.BeginSession(ctx, o, a, from, now); err != nil {
			return err
		}
		outcome, err = s.link(ctx, v, o, a, now)
		return err
	})
	if refusal, ok := refused(err); ok {
		return s.failed(ctx, v, refusal, SignInResult{}, nil, now)
	}
	if err != nil {
		return ConnectResult{Verified: v}, err
	}
	return v.linked(outcome, a.ID, in, now), nil
}

// LogIn checks the password, begins a session and links the account to the partner of the connect URL. When the
// link is refused, the session stays, since the operator may want to end another link. With two-factor codes on,
// LogIn begins a half sign-in and makes no link.
//
// Returns the errors of VerifyURL and of signin.Authenticator.Authenticate.
func (s *Service) LogIn(ctx context.Context, r ConnectParams, email, password string, from Browser) (ConnectResult,
	error) {
	now := s.deps.Clock.Now()
	v, err := s.verify(ctx, r, now)
	if err != nil {
		return ConnectResult{}, err
	}
	o, a, err := s.authenticator.Authenticate(ctx, email, password, from, now)
	if err != nil {
		return ConnectResult{Verified: v}, err
	}
	return s.enter(ctx, v, o, a, now, func(ctx context.Context) (SignInResult, error) {
		return s.authenticator.BeginSignIn(ctx, o, a, from, now)
	})
}

// CompleteLogIn completes a half sign-in with a two-factor code and links the account to the partner.
//
// Returns the errors of VerifyURL, twofactor.ErrSignInExpired, ErrWrongCode or ErrTooManyCodes.
func (s *Service) CompleteLogIn(ctx context.Context, r ConnectParams, token, code string,
	from Browser) (ConnectResult, error) {
	now := s.deps.Clock.Now()
	v, err := s.verify(ctx, r, now)
	if err != nil {
		return ConnectResult{}, err
	}
	o, a, err := s.codes.HalfSignedInOperator(ctx, token, now)
	if err != nil {
		return ConnectResult{Verified: v}, err
	}
	result := ConnectResult{Verified: v}
	err = s.codes.LimitTries(ctx, o, from, now, func() error {
		entered, err := s.enter(ctx, v, o, a, now, func(ctx context.Context) (SignInResult, error) {
			half := signin.HalfSignInWithCode{Operator: o, Account: a, Token: token, Code: code, From: from}
			return s.authenticator.CompleteHalfSignIn(ctx, s.codes, half, now)
		})
		if err == nil {
			result = entered
		}
		return err
	})
	return result, err
}

// enter begins a session and links the operator's account to the partner; for a half sign-in it makes no link.
func (s *Service) enter(ctx context.Context, v VerifiedConnectURL, o connect.Operator, a connect.Account, now time.Time,
	begin func(context.Context) (SignInResult, error),
) (ConnectResult, error) {
	var in SignInResult
	var outcome connect.LinkResult
	var refusal *fault.Error
	err := s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) (err error) {
		refusal = nil
		if in, err = begin(ctx); err != nil || in.Half != "" {
			return err
		}
		var linkErr error
		if outcome, linkErr = s.link(ctx, v, o, a, now); linkErr == nil {
			return nil
		}
		var ok bool
		if refusal, ok = refused(linkErr); ok {
			return nil
		}
		return linkErr
	})
	switch {
	case err != nil:
		return ConnectResult{}, err
	case in.Half != "":
		return ConnectResult{Verified: v, SignedIn: in}, nil
	case refusal != nil:
		return s.failed(ctx, v, refusal, in, &a, now)
	}
	return v.linked(outcome, a.ID, in, now), nil
}

// LinkAccount links the account of the signed-in operator to the partner of the connect URL.
//
// Returns the errors of VerifyURL.
func (s *Service) LinkAccount(ctx context.Context, r ConnectParams, o connect.Operator,
	a connect.Account) (ConnectResult, error) {
	now := s.deps.Clock.Now()
	v, err := s.verify(ctx, r, now)
	if err != nil {
		return ConnectResult{}, err
	}
	var outcome connect.LinkResult
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) (err error) {
		outcome, err = s.link(ctx, v, o, a, now)
		return err
	})
	if refusal, ok := refused(err); ok {
		return s.failed(ctx, v, refusal, SignInResult{}, &a, now)
	}
	if err != nil {
		return ConnectResult{}, err
	}
	return v.linked(outcome, a.ID, SignInResult{}, now), nil
}

// RebuildConnectResult rebuilds the result of a connect form for the page after its redirect.
//
// Returns the errors of VerifyURL, or connect.ErrAccountNotLinked.
func (s *Service) RebuildConnectResult(ctx context.Context, r ConnectParams, a connect.Account,
	outcome connect.LinkResult) (ConnectResult, error) {
	now := s.deps.Clock.Now()
	v, err := s.verify(ctx, r, now)
	if err != nil {
		return ConnectResult{}, err
	}
	current, err := s.deps.Links.ActiveLink(ctx, a.ID)
	if err != nil {
		return ConnectResult{}, err
	}
	if already, _ := connect.CheckNewLink(current, v.Partner.ID, v.ExternalID); !already {
		return ConnectResult{}, connect.ErrAccountNotLinked
	}
	return v.linked(outcome, a.ID, SignInResult{}, now), nil
}

// link inserts the link of an account to a partner, or finds that the link exists. The unique indexes decide races.
//
// Returns connect.ErrAlreadyLinked or connect.ErrExternalIDConflict; the transaction stays usable.
func (s *Service) link(ctx context.Context, v VerifiedConnectURL, o connect.Operator, a connect.Account,
	now time.Time) (connect.LinkResult, error) {
	exists, err := s.linkExists(ctx, v, a)
	if err != nil || exists {
		return connect.OutcomeAlreadyLinked, err
	}
	l := connect.Link{ID: s.deps.Entropy.NewID(), PartnerID: v.Partner.ID, AccountID: a.ID, ExternalID: v.ExternalID,
		LinkedAt: now}
	if err := s.deps.Links.Insert(ctx, l); err != nil {
		if _, lost := refused(err); !lost {
			return "", err
		}
		exists, decided := s.linkExists(ctx, v, a)
		if decided != nil || exists {
			return connect.OutcomeAlreadyLinked, decided
		}
		return "", err
	}
	// A connect URL that was signed before a revocation must not link the account again.
	revokedAt, err := s.deps.Links.LastRevokedAt(ctx, l.PartnerID, l.ExternalID)
	if err != nil {
		return "", err
	}
	if err := v.params.CheckRevocation(revokedAt); err != nil {
		return "", err
	}
	payload := webhook.OperatorLinkedPayload{
		PartnerID: id.Partner.Of(l.PartnerID), AccountID: id.Account.Of(a.ID), ExternalID: l.ExternalID,
		LinkedAt: deposit.FormatTimestamp(now),
	}
	event := ports.Event{ID: s.deps.Entropy.NewID(), PartnerID: l.PartnerID, Name: webhook.EventOperatorLinked,
		Data: payload.JSON(), CreatedAt: now}
	if err := s.deps.Outbox.Append(ctx, event); err != nil {
		return "", err
	}
	told := mails.PartnerLinked{Operator: o, PartnerName: v.Partner.Name, DashboardURL: s.deps.DashboardURL}
	if err := s.deps.Mails.Enqueue(ctx, told.Mail(s.deps.Entropy.NewID(), now)); err != nil {
		return "", err
	}
	detail := map[string]string{"partnerId": payload.PartnerID, "externalId": l.ExternalID}
	entry := audit.NewEntry(s.deps.Entropy, now, o.Actor(), audit.LinkCreate, payload.AccountID, detail)
	return connect.OutcomeLinked, s.deps.Audit.Append(ctx, entry)
}

// linkExists reports whether the account already has an active link to this partner with this external id.
//
// Returns connect.ErrAlreadyLinked or connect.ErrExternalIDConflict.
func (s *Service) linkExists(ctx context.Context, v VerifiedConnectURL, a connect.Account) (bool, error) {
	current, err := s.deps.Links.LockActiveLink(ctx, a.ID)
	if err != nil {
		return false, err
	}
	return connect.CheckNewLink(current, v.Partner.ID, v.ExternalID)
}
