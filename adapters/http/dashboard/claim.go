package dashboard

import (
	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/deposits"
	"partnerdeposits/app/deposits/desk"
	"partnerdeposits/core/deposit"
)

// claimView is the data about an unpaid claim on a deposit's page; the zero value shows nothing.
type claimView struct {
	// URL of the page on which the tenant can pay the claim; "" for none.
	LinkURL string
	Hint    string
	// Whether the link to pay a claim can be mailed to the tenant now.
	Reminds bool
	Ends    bool
}

func (p *pages) claimOf(c *fiber.Ctx, by caller, v desk.DepositView) (claimView, error) {
	view := claimView{Reminds: actPossible(deposits.ActRemind, v), Ends: actPossible(deposits.ActMarkSettledElsewhere, v)}
	if v.Debt == nil || !v.Debt.Payable(v.Now) {
		return view, nil
	}
	lang := ui.LangOf(c)
	view.Hint = textClaimLinkHint.In(lang)
	if again := v.Debt.RemindableAt(); v.Client != nil && again.After(v.Now) {
		view.Hint += " " + textClaimMailed.In(lang, ui.FormatDateTime(lang, v.Debt.AskedAt), ui.FormatDateTime(lang, again))
	}
	var err error
	view.LinkURL, err = p.Deposits.CheckoutURL(c.UserContext(), by.Account.ID, v.ID)
	return view, err
}

// askAboutClaim fills the page that asks to confirm an act on a claim, and returns its title.
func (p *pages) askAboutClaim(view *confirmView, v desk.DepositView, f actForm, lang ui.Lang) (title string) {
	amount := ui.Euros(lang, v.CapturedAmount)
	switch f.intent {
	case intentRemind:
		to := textTheTenant.In(lang)
		if v.Client != nil {
			to = v.Client.Email
		}
		view.Button, view.Danger = textButtonRemind.In(lang), false
		view.Says = []string{textSaysRemind.In(lang, to, amount)}
		return textConfirmRemind.In(lang)
	case intentSettled:
		title, view.Button = textConfirmSettled.In(lang, amount), textButtonSettled.In(lang)
		view.Says = []string{textSaysSettled.In(lang, amount)}
	default:
		title, view.Button = textConfirmWithdraw.In(lang, amount), textButtonWithdraw.In(lang)
		view.Says = []string{textSaysWithdraw.In(lang, amount)}
	}
	view.Says = append(view.Says, textSaysQuicker.In(lang))
	if v.Client != nil {
		view.Says = append(view.Says, textSaysTold.In(lang))
	}
	view.Says = append(view.Says, textSaysFinal.In(lang))
	return title
}

func collectionOf(d deposit.Debt, lang ui.Lang) string {
	switch {
	case !d.State.Final() && !d.CancelAt.IsZero():
		return textClaimEnding.In(lang)
	case d.State == deposit.CollectionFailed &&
		deposit.CollectionTrigger(d.Failure) == deposit.CollectionTriggerSettledElsewhere:
		return textClaimSettled.In(lang)
	case d.State == deposit.CollectionFailed && deposit.CollectionTrigger(d.Failure) == deposit.CollectionTriggerWithdrawn:
		return textClaimWithdrawn.In(lang)
	}
	return collectionStates[d.State].In(lang)
}

// doneOnClaim returns the message about an act just performed on a claim; "" if the claim's state does not match
// that act.
func doneOnClaim(done string, v desk.DepositView, lang ui.Lang) string {
	ends := map[string]deposit.CollectionTrigger{
		intentSettled: deposit.CollectionTriggerSettledElsewhere, intentWithdraw: deposit.CollectionTriggerWithdrawn}
	switch {
	case v.Debt == nil:
	case done == intentRemind && v.History[len(v.History)-1].Happened == desk.EntryTenantReminded:
		return textDoneSendLink.In(lang)
	case ends[done] == "" || ends[done] != v.Debt.CancelAs:
	case v.Debt.State == deposit.CollectionFailed:
		return textDoneClaimEnded.In(lang)
	case !v.Debt.State.Final():
		return textDoneClaimEnding.In(lang)
	}
	return ""
}

// claimRefusal returns the message for a refused act on a claim; ok is false for a code of another kind.
func claimRefusal(code string, v desk.DepositView, lang ui.Lang) (says string, ok bool) {
	switch code {
	case deposit.ErrCollectionOver.Code, deposit.ErrCollectionEnding.Code, deposit.ErrCollectionNotPayable.Code:
		if v.Debt == nil {
			return textNoClaim.In(lang), true
		}
		return textClaimRefused.In(lang, collectionOf(*v.Debt, lang)), true
	case deposit.ErrRemindedRecently.Code:
		return textReminded.In(lang, ui.FormatDateTime(lang, v.Debt.AskedAt), ui.FormatDateTime(lang,
			v.Debt.RemindableAt())), true
	case deposit.ErrNobodyToRemind.Code:
		return textNobodyToRemind.In(lang), true
	}
	return "", false
}
