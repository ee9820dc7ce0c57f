package connections

import (
	"errors"
	"time"

	"partnerdeposits/app/accounts/signin"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
)

// Browser is the browser and network from which an operator signs in.
type (
	SignInResult = signin.AuthenticationResult
	Browser      = signin.Browser
)

// ConnectResult is the result of a connect form at a partner's connect URL.
type ConnectResult struct {
	Verified VerifiedConnectURL // The checked connect URL is also set beside an error, if the URL itself was valid.
	SignedIn SignInResult       // The operator with the new session; zero when no session was begun.
	Outcome  connect.LinkResult
	// The reason why the link was refused: account_already_linked or external_id_conflict; nil when the link was not
	// refused.
	Refusal   *fault.Error
	Sides     LinkConflict // The existing links between accounts and partners for which the new link was refused.
	ReturnURL string       // The partner's return_url with the signed result; "" for none.
}

func (v VerifiedConnectURL) linked(outcome connect.LinkResult, accountID id.ID, in SignInResult,
	now time.Time) ConnectResult {
	return ConnectResult{Verified: v, SignedIn: in, Outcome: outcome, ReturnURL: v.returnURL(outcome, accountID, "", now)}
}

// refused returns the fault in err if a rule refused the link between an account and a partner.
func refused(err error) (refusal *fault.Error, ok bool) {
	if errors.Is(err, connect.ErrAlreadyLinked) || errors.Is(err, connect.ErrExternalIDConflict) {
		return fault.FromError(err), true
	}
	return nil, false
}

// LinkConflict describes both sides of a refused link to a partner; zero when no existing link rules it out.
type LinkConflict struct {
	// The name of the partner that the account is linked to; "" for none.
	LinkedPartner string
	LinkedNumber  string
	// The masked e-mail address of the other operator who has the external id; "" for none.
	NumberOwner string
}

func (v VerifiedConnectURL) refused(refusal *fault.Error, sides LinkConflict, in SignInResult,
	now time.Time) ConnectResult {
	return ConnectResult{
		Verified: v, SignedIn: in, Outcome: connect.OutcomeFailed, Refusal: refusal, Sides: sides,
		ReturnURL: v.returnURL(connect.OutcomeFailed, id.ID{}, refusal.Code, now),
	}
}
