package dashboard

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/deposits"
	"partnerdeposits/app/deposits/desk"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
)

func (p *pages) showDeposit(c *fiber.Ctx, by caller) error {
	v, err := p.find(c, by)
	if err != nil {
		return err
	}
	var sent actForm
	if p.restored(c, by, depositPath(v.ID)) {
		sent = p.actFormOf(c, v)
		sent.restored, sent.mistakes = true, nil
	}
	return p.renderDeposit(c, by, http.StatusOK, v, sent, "")
}

// find returns the deposit of the request's path, or deposit_not_found, also for a deposit of another account.
func (p *pages) find(c *fiber.Ctx, by caller) (desk.DepositView, error) {
	depositID, ok := id.Deposit.Parse(c.Params("id"))
	if !ok {
		return desk.DepositView{}, deposit.ErrNotFound
	}
	return p.Desk.FindDeposit(c.UserContext(), by.Account, depositID)
}

// renderDeposit renders the page of a deposit. sent is a form with mistakes; problem says why an act was refused,
// or is "".
func (p *pages) renderDeposit(c *fiber.Ctx, by caller, status int, v desk.DepositView, sent actForm,
	problem string) error {
	lang := ui.LangOf(c)
	view := p.viewOf(c, by, v, sent, titleOf(v, lang))
	view.Facts, view.Bar, view.Problem = factsOf(v, lang), barOf(v, lang), problem
	view.Captures, view.Cancels = actPossible(deposits.ActCapture, v), actPossible(deposits.ActCancel, v)
	view.Files, view.Adds = linesOf(v.Files, lang), actPossible(deposits.ActAddFiles, v)
	if !v.CoversContract && (v.Status == deposit.Active || v.Status.InCheckout()) {
		view.Short = textFallsShort.In(lang, ui.FormatDate(lang, v.CoverEnd), ui.FormatDate(lang, v.ContractEndAt))
	}
	if view.Done == "" && problem == "" && len(sent.mistakes) == 0 {
		view.Done = doneOf(c.Query(queryDone), v, lang)
	}
	for _, e := range slices.Backward(v.History) {
		view.Entries = append(view.Entries, entryOf(e, lang))
	}
	var err error
	if v.Sendable {
		if view.LinkURL, err = p.Deposits.CheckoutURL(c.UserContext(), by.Account.ID, v.ID); err != nil {
			return err
		}
	}
	if view.Claim, err = p.claimOf(c, by, v); err != nil {
		return err
	}
	if view.LinkURL != "" || view.Claim.LinkURL != "" {
		view.Page.AllowCopying(c)
	}
	return ui.Render(c, status, detailPage(view))
}

func (p *pages) viewOf(c *fiber.Ctx, by caller, v desk.DepositView, sent actForm, title string) detailView {
	lang := ui.LangOf(c)
	view := detailView{
		Page: p.page(c, by, ui.SectionDeposits, title), Path: depositPath(v.ID), View: v, Sum: sumOf(v, lang),
		State: stateOf(v.Deposit, v.Debt, lang), Token: p.Site.FormToken(c), Act: sent,
		Unverified: p.Operators.HasUnverifiedEmail(by.Operator),
	}
	if c.Method() == fiber.MethodPost {
		view.Page.ReadAt = view.Path
	}
	if len(sent.mistakes) > 0 {
		view.Page.ErrorCode = "invalid_field"
	}
	if sent.restored {
		view.Done = textRestored.In(lang)
	}
	return view
}

func actPossible(act deposits.OperatorAct, v desk.DepositView) bool {
	return act.CheckPossible(v.Deposit, v.Debt, v.Now) == nil
}

// doneOf returns the message about the act just performed on a deposit; "" if the deposit's state does not match,
// since the query could be made up.
func doneOf(done string, v desk.DepositView, lang ui.Lang) string {
	last := v.History[len(v.History)-1]
	switch {
	case done == intentCapture && v.Status == deposit.Captured:
		return textDoneCapture.In(lang, ui.Euros(lang, v.CapturedAmount))
	case done == intentRelease && v.StatusReason == deposit.TriggerReleased.StatusReason():
		return textDoneRelease.In(lang)
	case done == intentCancel && v.StatusReason == deposit.TriggerCancelledByOperator.StatusReason():
		return textDoneCancel.In(lang)
	case done == intentSendLink && last.Happened == desk.EntryLinkSent:
		return textDoneSendLink.In(lang)
	case done == intentAddFiles && last.Happened == desk.EntryFilesAdded:
		return textDoneFiles.In(lang)
	case done == createdNow && last.Happened == desk.EntryLinkSent:
		return textDoneCreatedSent.In(lang)
	case done == createdNow && last.Happened == desk.EntryDepositCreated:
		return textDoneCreated.In(lang)
	}
	return doneOnClaim(done, v, lang)
}

func factsOf(v desk.DepositView, lang ui.Lang) []fact {
	facts := []fact{{Name: textPeriod.In(lang), Value: periodOf(lang, v.ContractStartAt, v.ContractEndAt)}}
	if v.RentalContract != "" {
		facts = append(facts, fact{Name: textContract.In(lang), Value: v.RentalContract})
	}
	if cover, ok := coverOf(v, lang); ok {
		facts = append(facts, cover)
	}
	if v.Status == deposit.Captured {
		facts = append(facts, moneyOf(v, lang)...)
	}
	facts = append(facts, refundsOf(v, lang)...)
	if v.Sendable {
		facts = append(facts, fact{Name: textTenantPays.In(lang), Value: ui.Euros(lang, deposit.Fee(v.Amount)),
			Note: textFeeOnce.In(lang)})
		facts = append(facts, fact{Name: textCheckoutUntil.In(lang), Value: ui.FormatDateTime(lang, v.CheckoutExpiresAt)})
	}
	for _, d := range v.Disputes {
		facts = append(facts, disputeOf(d, lang))
	}
	return facts
}

// disputeOf returns the line about a tenant's objection to a charge.
func disputeOf(d paymentports.StoredDispute, lang ui.Lang) fact {
	state, known := disputeStates[d.Status]
	if !known {
		state = disputeStates["under_review"]
	}
	out := fact{Name: textDispute.In(lang), Value: ui.Euros(lang, d.Amount), Note: state.In(lang)}
	if !d.EvidenceDueBy.IsZero() && strings.HasSuffix(d.Status, "needs_response") {
		out.Note += " " + textEvidenceDue.In(lang, ui.FormatDateTime(lang, d.EvidenceDueBy))
	}
	return out
}

// coverOf returns the line about when the cover ends and whether it reaches the end of the stay; false without a
// cover.
func coverOf(v desk.DepositView, lang ui.Lang) (fact, bool) {
	cover := fact{Name: textCover.In(lang)}
	if v.CoversContract && (v.Status == deposit.Active || v.Status.InCheckout()) {
		cover.Note = textReaches.In(lang)
	}
	switch {
	case v.Status == deposit.Active:
		cover.Value = textCoverUntil.In(lang, ui.FormatDateTime(lang, v.CoverEnd))
	case v.Status.InCheckout():
		cover.Value = textCoverNotYet.In(lang, ui.FormatDate(lang, v.CoverEnd))
	case v.Status == deposit.Closed:
		cover.Value = textCoverEnded.In(lang, ui.FormatDate(lang, v.ClosedAt))
	case v.Status == deposit.Captured:
		cover.Value = textCoverEnded.In(lang, ui.FormatDate(lang, v.CapturedAt))
	}
	return cover, cover.Value != ""
}

func entryOf(e desk.HistoryEntry, lang ui.Lang) entry {
	out := entry{At: ui.FormatDateTime(lang, e.At), Time: e.At.UTC().Format(time.RFC3339), Who: authors[e.Author].In(lang)}
	if e.Author == desk.AuthorPartner && e.Name != "" {
		out.Who = e.Name
	}
	switch e.Happened {
	case desk.EntryDepositCreated:
		out.Text = textHappenedCreated.In(lang)
	case desk.EntryLinkSent:
		out.Text = textHappenedLinkSent.In(lang)
	case desk.EntryTenantReminded:
		out.Text = textHappenedReminded.In(lang)
	case desk.EntryFilesAdded:
		out.Text = textHappenedFile.In(lang, e.Detail["files"])
	case desk.EntryTransition:
		out.Text = happened[e.Trigger].In(lang)
	case desk.EntryCollectionChanged:
		out.Text = collectionSteps[e.CollectionTrigger].In(lang)
	}
	if failure := e.Detail["failure"]; failure != "" && !e.CollectionTrigger.EndsUnpaid() {
		out.Notes = append(out.Notes, failureOf(failure, lang))
	}
	if amount := e.Detail["amount"]; amount != "" {
		if cents, ok := parseAmount(amount); ok {
			amount = ui.Euros(lang, cents)
		}
		out.Notes = append(out.Notes, amount)
	}
	if reason := e.Detail["reason"]; reason != "" {
		text, known := reasons[reason]
		if known {
			reason = text.In(lang)
		}
		out.Notes = append(out.Notes, reason)
	}
	for _, name := range []string{"description", "comment"} {
		if text := strings.TrimSpace(e.Detail[name]); text != "" {
			out.Notes = append(out.Notes, text)
		}
	}
	return out
}

func (p *pages) conflict(c *fiber.Ctx, by caller, v desk.DepositView, err error) error {
	lang := ui.LangOf(c)
	f := fault.FromError(err)
	if says, ofClaim := claimRefusal(f.Code, v, lang); ofClaim {
		return p.renderDeposit(c, by, problem.HTTPStatus(fault.Conflict), v, actForm{}, says)
	}
	text, known := refusals[f.Code]
	if !known {
		text = refusals[deposits.ErrDepositChanged.Code]
	}
	return p.renderDeposit(c, by, problem.HTTPStatus(fault.Conflict), v, actForm{},
		text.In(lang, stateOf(v.Deposit, v.Debt, lang).Text))
}
