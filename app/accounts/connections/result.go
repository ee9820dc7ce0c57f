package connections

import (
	"errors"
	"time"

	"partnerdeposits/app/accounts/signin"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
)

// SignedIn is an operator with a new session, Browser the origin of a sign-in.
type (
	SignedIn = signin.SignedIn
	Browser  = signin.Browser
)

// Result is the result of a connect form.
type Result struct {
	Verified  Verified // also set beside an error, if the connect URL itself was valid
	SignedIn  SignedIn // zero when no session was begun
	Outcome   connect.Outcome
	Refusal   *fault.Error // account_already_linked or external_id_conflict; nil unless Outcome is Failed
	Sides     Sides        // of the refusal
	ReturnURL string       // return_url with the signed result; "" without a return_url
}

func (v Verified) linked(outcome connect.Outcome, accountID id.ID, in SignedIn, now time.Time) Result {
	return Result{Verified: v, SignedIn: in, Outcome: outcome, ReturnURL: v.returnURL(outcome, accountID, "", now)}
}

// refused gives the fault of a link that the rules refuse. ok is false for every other error.
func refused(err error) (refusal *fault.Error, ok bool) {
	if errors.Is(err, connect.ErrAlreadyLinked) || errors.Is(err, connect.ErrExternalIDConflict) {
		return fault.Of(err), true
	}
	return nil, false
}

// Sides names both sides of a refused link. The zero value is a link that nothing rules out.
type Sides struct {
	LinkedPartner string // name of the partner that the account is linked to; "": the account has no link
	LinkedNumber  string // the external id of that link
	// NumberOwner is the e-mail of the operator whose account the external id belongs to, masked: it is another
	// person's; "": it belongs to no other account.
	NumberOwner string
}

func (v Verified) refused(refusal *fault.Error, sides Sides, in SignedIn, now time.Time) Result {
	return Result{
		Verified: v, SignedIn: in, Outcome: connect.Failed, Refusal: refusal, Sides: sides,
		ReturnURL: v.returnURL(connect.Failed, id.ID{}, refusal.Code, now),
	}
}
