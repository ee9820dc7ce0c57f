package connections

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/app/internal/signin"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

// SignedIn is an operator with a fresh session.
type SignedIn = signin.SignedIn

// Arrival is where a connect form has led.
type Arrival struct {
	Invitation Invitation // also beside an error, where the connect URL itself was good
	SignedIn   SignedIn   // zero where no session was begun
	Outcome    connect.Outcome
	Refusal    *fault.Error // account_already_linked or external_id_conflict; nil unless Outcome is Failed
	ReturnTo   string       // return_url with the signed result; "" where there is none
}

// SignUp makes operator, account, session, link and event in one transaction: all of them, or where the link is refused none.
//
// Returns what Open returns, connect.ErrInvalidEmail, ErrInvalidPassword, ErrInvalidCompany or ErrEmailTaken.
func (s *Service) SignUp(ctx context.Context, r Request, form connect.SignUp, replaced string) (Arrival, error) {
	now := s.deps.Clock.Now()
	inv, err := s.open(ctx, r, now)
	if err != nil {
		return Arrival{}, err
	}
	o, a, err := s.authenticator.NewOperator(ctx, form, now)
	if err != nil {
		return Arrival{Invitation: inv}, err
	}
	var in SignedIn
	var outcome connect.Outcome
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) (err error) {
		if err := repos.Operators.Insert(ctx, o, a); err != nil {
			return err
		}
		if in, err = s.authenticator.BeginSession(ctx, repos, o, a, replaced, now); err != nil {
			return err
		}
		outcome, err = s.link(ctx, repos, inv, o, a, now)
		return err
	})
	if refusal, ok := refused(err); ok {
		return inv.refusedWith(refusal, SignedIn{}, now), nil
	}
	if err != nil {
		return Arrival{Invitation: inv}, err
	}
	return inv.reached(outcome, a.ID, in, now), nil
}

// LogIn begins a session after a password and links, in one transaction. Where the link is refused the session stands:
// the operator may want to end another link.
//
// Returns what Open returns or connect.ErrBadCredentials.
func (s *Service) LogIn(ctx context.Context, r Request, email, password, replaced string) (Arrival, error) {
	now := s.deps.Clock.Now()
	inv, err := s.open(ctx, r, now)
	if err != nil {
		return Arrival{}, err
	}
	o, a, err := s.authenticator.Authenticate(ctx, email, password)
	if err != nil {
		return Arrival{Invitation: inv}, err
	}
	var in SignedIn
	var outcome connect.Outcome
	var refusal *fault.Error
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) (err error) {
		if in, err = s.authenticator.BeginSession(ctx, repos, o, a, replaced, now); err != nil {
			return err
		}
		var linkErr error
		if outcome, linkErr = s.link(ctx, repos, inv, o, a, now); linkErr == nil {
			refusal = nil
			return nil
		}
		var ok bool
		if refusal, ok = refused(linkErr); ok {
			return nil
		}
		return linkErr
	})
	if err != nil {
		return Arrival{}, err
	}
	if refusal != nil {
		return inv.refusedWith(refusal, in, now), nil
	}
	return inv.reached(outcome, a.ID, in, now), nil
}

// Link links the account of an operator who is signed in and has agreed.
//
// Returns what Open returns.
func (s *Service) Link(ctx context.Context, r Request, o connect.Operator, a connect.Account) (Arrival, error) {
	now := s.deps.Clock.Now()
	inv, err := s.open(ctx, r, now)
	if err != nil {
		return Arrival{}, err
	}
	var outcome connect.Outcome
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) (err error) {
		outcome, err = s.link(ctx, repos, inv, o, a, now)
		return err
	})
	if refusal, ok := refused(err); ok {
		return inv.refusedWith(refusal, SignedIn{}, now), nil
	}
	if err != nil {
		return Arrival{}, err
	}
	return inv.reached(outcome, a.ID, SignedIn{}, now), nil
}

// Arrived tells again how a connect ended whose outcome was noted, for a page that is opened after it.
//
// Returns what Open returns, or connect.ErrAccountNotLinked where that link is not in force.
func (s *Service) Arrived(ctx context.Context, r Request, a connect.Account, outcome connect.Outcome) (Arrival, error) {
	now := s.deps.Clock.Now()
	inv, err := s.open(ctx, r, now)
	if err != nil {
		return Arrival{}, err
	}
	current, err := s.deps.Links.ActiveLink(ctx, a.ID)
	if err != nil {
		return Arrival{}, err
	}
	if current == nil || current.PartnerID != inv.Partner.ID || current.ExternalID != inv.ExternalID {
		return Arrival{}, connect.ErrAccountNotLinked
	}
	return inv.reached(outcome, a.ID, SignedIn{}, now), nil
}

// link makes the link with its event, or finds that it exists. Races are decided by the unique indexes: whoever loses one
// looks again at what the winner left.
//
// Returns connect.ErrAlreadyLinked or connect.ErrExternalIDConflict; the transaction stays usable.
func (s *Service) link(ctx context.Context, repos ports.Repositories, inv Invitation, o connect.Operator, a connect.Account, now time.Time) (connect.Outcome, error) {
	already, err := s.decide(ctx, repos, inv, a)
	if err != nil || already {
		return connect.AlreadyLinked, err
	}
	l := connect.Link{ID: s.deps.Entropy.NewID(), PartnerID: inv.Partner.ID, AccountID: a.ID, ExternalID: inv.ExternalID, LinkedAt: now}
	if err := repos.Links.Insert(ctx, l); err != nil {
		if _, lost := refused(err); !lost {
			return "", err
		}
		already, decided := s.decide(ctx, repos, inv, a)
		if decided != nil || already {
			return connect.AlreadyLinked, decided
		}
		return "", err
	}
	payload := webhook.LinkedPayload{
		PartnerID: id.Partner.Of(l.PartnerID), AccountID: id.Account.Of(a.ID), ExternalID: l.ExternalID, LinkedAt: deposit.Timestamp(now),
	}
	event := ports.Event{ID: s.deps.Entropy.NewID(), PartnerID: l.PartnerID, Name: webhook.OperatorLinked, Data: payload.JSON(), CreatedAt: now}
	if err := repos.Outbox.Append(ctx, event); err != nil {
		return "", err
	}
	return connect.Linked, repos.Audit.Append(ctx, ports.AuditEntry{
		ID: s.deps.Entropy.NewID(), At: now, Actor: operatorActor(o), Action: "link.create", Subject: payload.AccountID,
		Detail: map[string]string{"partnerId": payload.PartnerID, "externalId": l.ExternalID},
	})
}

func (s *Service) decide(ctx context.Context, repos ports.Repositories, inv Invitation, a connect.Account) (already bool, err error) {
	current, err := repos.Links.ActiveOfAccount(ctx, a.ID)
	if err != nil {
		return false, err
	}
	return connect.Decide(current, inv.Partner.ID, inv.ExternalID)
}

// refused tells a link that may not be made from a failure to make it.
func refused(err error) (*fault.Error, bool) {
	if errors.Is(err, connect.ErrAlreadyLinked) || errors.Is(err, connect.ErrExternalIDConflict) {
		return fault.Of(err), true
	}
	return nil, false
}

func (inv Invitation) reached(outcome connect.Outcome, accountID id.ID, in SignedIn, now time.Time) Arrival {
	return Arrival{Invitation: inv, SignedIn: in, Outcome: outcome, ReturnTo: inv.Result(outcome, accountID, "", now)}
}

func (inv Invitation) refusedWith(refusal *fault.Error, in SignedIn, now time.Time) Arrival {
	return Arrival{
		Invitation: inv, SignedIn: in, Outcome: connect.Failed, Refusal: refusal,
		ReturnTo: inv.Result(connect.Failed, id.ID{}, refusal.Code, now),
	}
}

func operatorActor(o connect.Operator) string { return "operator:" + id.Operator.Of(o.ID) }
