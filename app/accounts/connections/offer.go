package connections

import (
	"context"
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/mailaddr"
)

// PreviewLink checks whether a link between the partner of the connect URL and the account a would be made now, and
// returns the reason if not. a is nil when no operator is signed in; then an external id that is linked to any
// account is refused.
//
// Returns the errors of VerifyURL.
func (s *Service) PreviewLink(ctx context.Context, r ConnectParams, a *connect.Account) (ConnectResult, error) {
	now := s.deps.Clock.Now()
	v, err := s.verify(ctx, r, now)
	if err != nil {
		return ConnectResult{}, err
	}
	refusal, sides, err := s.sides(ctx, v, a)
	switch {
	case err != nil:
		return ConnectResult{Verified: v}, err
	case refusal != nil:
		return v.refused(refusal, sides, SignInResult{}, now), nil
	case a == nil:
		return ConnectResult{Verified: v}, nil
	}
	current, err := s.deps.Links.ActiveLink(ctx, a.ID)
	result := ConnectResult{Verified: v}
	if already, _ := connect.CheckNewLink(current, v.Partner.ID, v.ExternalID); already {
		result.Outcome = connect.OutcomeAlreadyLinked
	}
	return result, err
}

// failed returns the result of a connect form whose link was refused. a is nil for a sign-up.
func (s *Service) failed(ctx context.Context, v VerifiedConnectURL, refusal *fault.Error, in SignInResult,
	a *connect.Account,
	now time.Time) (ConnectResult, error) {
	_, sides, err := s.sides(ctx, v, a)
	return v.refused(refusal, sides, in, now), err
}

// sides returns the links that rule out a new link between an account and a partner; refusal is nil when none does.
func (s *Service) sides(ctx context.Context, v VerifiedConnectURL,
	a *connect.Account) (refusal *fault.Error, sides LinkConflict, err error) {
	var decided error
	if a != nil {
		current, err := s.deps.Links.ActiveLink(ctx, a.ID)
		if err != nil {
			return nil, LinkConflict{}, err
		}
		var already bool
		if already, decided = connect.CheckNewLink(current, v.Partner.ID, v.ExternalID); already {
			return nil, LinkConflict{}, nil
		}
		if current != nil {
			if sides, err = s.linkedSide(ctx, *current); err != nil {
				return nil, LinkConflict{}, err
			}
		}
	}
	other, err := s.deps.Links.ActiveLinkByExternalID(ctx, v.Partner.ID, v.ExternalID)
	if err != nil || other == nil {
		return refusalOf(decided, other), sides, err
	}
	_, owner, err := s.deps.Operators.AccountByID(ctx, other.AccountID)
	if err != nil {
		return nil, LinkConflict{}, err
	}
	sides.NumberOwner = mailaddr.Masked(owner.Email)
	return refusalOf(decided, other), sides, nil
}

// refusalOf returns the fault with which a link is refused, nil when it is allowed. decided is the result of
// connect.CheckNewLink.
func refusalOf(decided error, other *connect.Link) *fault.Error {
	if refusal, ok := refused(decided); ok {
		return refusal
	}
	if other != nil {
		return connect.ErrExternalIDConflict
	}
	return nil
}

func (s *Service) linkedSide(ctx context.Context, current connect.Link) (LinkConflict, error) {
	p, err := s.deps.Partners.PartnerByID(ctx, current.PartnerID)
	return LinkConflict{LinkedPartner: p.Name, LinkedNumber: current.ExternalID}, err
}
