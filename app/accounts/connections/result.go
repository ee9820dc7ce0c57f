package connections

import (
	"errors"
	"time"

	"partnerdeposits/app/accounts/signin"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
)

// SignedIn is an operator with a new session. Browser is the browser and network from which an operator signs
// in.
type (
	SignInResult = signin.AuthenticationResult
	Browser      = signin.Browser
)

// ConnectResult is the result of a connect form: a sign-up, log-in or agreement at a partner's connect URL.
type ConnectResult struct {
	Verified VerifiedConnectURL // The checked connect URL. It is also set beside an error, if the URL itself was valid.
	SignedIn SignInResult       // The operator with the new session; zero when no session was begun.
	Outcome  connect.LinkResult
	// The reason why the link was refused: account_already_linked or external_id_conflict; nil when the link was not
	// refused.
	Refusal   *fault.Error
	Sides     LinkConflict // The existing links between accounts and partners for which the new link was refused.
	ReturnURL string       // The partner's return_url with the signed result; "" without a return_url.
}

func (v VerifiedConnectURL) linked(outcome connect.LinkResult, accountID id.ID, in SignInResult,
	now time.Time) ConnectResult {
	return ConnectResult{Verified: v, SignedIn: in, Outcome: outcome, ReturnURL: v.returnURL(outcome, accountID, "", now)}
}

// refused returns the fault in err if a rule refused the link between an account and a partner. ok is false for
// every other error.
func refused(err error) (refusal *fault.Error, ok bool) {
	if errors.Is(err, connect.ErrAlreadyLinked) || errors.Is(err, connect.ErrExternalIDConflict) {
		return fault.FromError(err), true
	}
	return nil, false
}

// LinkConflict describes both sides of a refused link: the partner that the account is linked to, and the operator
// who has the external id. The zero value means that no existing link rules the new one out.
type LinkConflict struct {
	// The name of the partner that the account is already linked to; "" for an account without a link.
	LinkedPartner string
	LinkedNumber  string // The external id of the account's present link.
	// NumberOwner is the masked e-mail address of the operator to whose account the external id belongs. The
	// address is masked, since it is another person's. "": the external id belongs to no other account.
	NumberOwner string
}

func (v VerifiedConnectURL) refused(refusal *fault.Error, sides LinkConflict, in SignInResult,
	now time.Time) ConnectResult {
	return ConnectResult{
		Verified: v, SignedIn: in, Outcome: connect.OutcomeFailed, Refusal: refusal, Sides: sides,
		ReturnURL: v.returnURL(connect.OutcomeFailed, id.ID{}, refusal.Code, now),
	}
}
