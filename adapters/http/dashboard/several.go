package dashboard

import (
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/accounts/operators"
	"partnerdeposits/app/deposits"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/site"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

// several handles a form about several deposits: it asks for confirmation, then mails the tenants.
func (p *pages) several(c *fiber.Ctx, by caller) error {
	ui.SetLanguageLinkPath(c, pathDeposits)
	if err := p.Site.CheckCSRF(c); err != nil {
		return ui.RenderFormExpired(c, pathDeposits)
	}
	form := deposits.BulkForm{Act: deposits.BulkAct(ui.PostValue(c, fieldIntent)), Key: p.formID(c)}
	asked := ui.PostValue(c, fieldConfirm) == confirmed
	// The confirmation gets a new form key: the same list may be sent again with other deposits ticked.
	if !asked {
		form.Key = [16]byte(p.Entropy.NewID())
	}
	if !slices.Contains(deposits.BulkActs, form.Act) {
		return c.Redirect(pathDeposits, http.StatusSeeOther)
	}
	var err error
	if form.IDs, err = tickedOf(c); err != nil {
		return err
	}
	lang := ui.LangOf(c)
	switch {
	case len(form.IDs) == 0:
		return p.notTicked(c, by, textTickSome.In(lang))
	case len(form.IDs) > deposit.MaxDepositsPerBulkAct:
		return p.notTicked(c, by, textTickFewer.In(lang, deposit.MaxDepositsPerBulkAct))
	case p.Operators.HasUnverifiedEmail(by.Operator):
		return p.unverified(c, by)
	}
	if asked {
		return p.mailSeveral(c, by, form)
	}
	if _, err := p.Deposits.FindByIDs(c.UserContext(), by, form.IDs); err != nil {
		return err
	}
	return p.keepDraft(c, by, form.Key, formDraft{Fields: typed(c).Encode()}, severalPath(form.Key))
}

// tickedOf returns the ids of a form's ticked deposits, each once, or deposit_not_found for a text that is no id.
func tickedOf(c *fiber.Ctx) (ids []id.ID, err error) {
	for _, text := range c.Request().PostArgs().PeekMulti(fieldDeposit) {
		depositID, ok := id.Deposit.Parse(string(text))
		if !ok {
			return nil, deposit.ErrNotFound
		}
		if !slices.Contains(ids, depositID) {
			ids = append(ids, depositID)
		}
	}
	return ids, nil
}

func severalPath(form [16]byte) string {
	return site.FillPath(site.ConfirmBulkActionPath, hex.EncodeToString(form[:]))
}

// severalForm returns the key of a form about several deposits, from its path or fields.
func (p *pages) severalForm(c *fiber.Ctx) string {
	if form := c.Params("form"); form != "" {
		return form
	}
	form := p.formID(c)
	return hex.EncodeToString(form[:])
}

// notTicked shows the error that no deposits or too many are ticked.
func (p *pages) notTicked(c *fiber.Ctx, by caller, problem string) error {
	v := severalView{Page: p.page(c, by, ui.SectionDeposits, textSeveralTitle.In(ui.LangOf(c))), Problem: problem}
	v.Page.Wide, v.Page.ReadAt, v.Page.ErrorCode = false, pathDeposits, "invalid_field"
	return ui.Render(c, http.StatusUnprocessableEntity, severalPage(v))
}

const (
	// answerTries is how often the second request of a double click checks whether the first has finished.
	answerTries = 40
	answerPause = 50 * time.Millisecond
)

// mailSeveral mails the tenants of a confirmed form, stores the outcome, and redirects to its page.
func (p *pages) mailSeveral(c *fiber.Ctx, by caller, form deposits.BulkForm) error {
	count := func() error { return p.limited(c, by, operators.LinkMailRateLimit) }
	outcome, err := p.Deposits.MailTenants(c.UserContext(), by, form, count)
	// The second request of a double click waits for the first and shows the same outcome.
	for range answerTries {
		if !errors.Is(err, ports.ErrIdempotencyKeyInUse) {
			break
		}
		select {
		case <-c.UserContext().Done():
			return c.UserContext().Err()
		case <-time.After(answerPause):
		}
		outcome, err = p.Deposits.MailTenants(c.UserContext(), by, form, count)
	}
	switch {
	case errors.Is(err, connect.ErrEmailUnverified):
		return p.unverified(c, by)
	case err == nil:
		return p.keepDraft(c, by, form.Key, formDraft{Fields: typed(c).Encode(), Outcome: outcome}, severalPath(form.Key))
	case errors.Is(err, deposits.ErrNobodyMailed), errors.Is(err, ports.ErrIdempotencyKeyInUse), errors.Is(err,
		ports.ErrIdempotencyKeyReused):
		// The form's page shows why no mail was sent, or the outcome of the same form sent before.
		return c.Redirect(severalPath(form.Key), http.StatusSeeOther)
	default:
		return err
	}
}

// showSeveral shows whom a form about several deposits would mail, or its outcome. Without a draft it redirects to
// the list.
func (p *pages) showSeveral(c *fiber.Ctx, by caller) error {
	form, d, err := p.draft(c, by.Account.ID)
	gone := errors.Is(err, depositports.ErrFormDraftGone)
	switch {
	case err == nil:
		retype(c, d.Fields)
	case !gone:
		return err
	// A form sent after the session had ended has had no effect, so it is shown again.
	case !p.restored(c, by, c.Path()):
		return c.Redirect(pathDeposits, http.StatusSeeOther)
	}
	act := deposits.BulkAct(ui.PostValue(c, fieldIntent))
	ids, err := tickedOf(c)
	if err != nil || len(ids) == 0 || len(ids) > deposit.MaxDepositsPerBulkAct || !slices.Contains(deposits.BulkActs,
		act) {
		// The fields of a restored form may contain anything, so they are checked again.
		return c.Redirect(pathDeposits, http.StatusSeeOther)
	}
	list, err := p.Deposits.FindByIDs(c.UserContext(), by, ids)
	if err != nil {
		return err
	}
	v := severalView{Page: p.page(c, by, ui.SectionDeposits, ""), Token: p.Site.FormToken(c), Act: act,
		Zone: by.Account.Zone()}
	if gone {
		v.Done = textSeveralBack.In(v.Page.Lang)
	}
	if len(d.Outcome) > 0 {
		v.tellOutcome(list, d.Outcome)
		return ui.Render(c, http.StatusOK, severalPage(v))
	}
	if err := p.Deposits.PlanTenantMails(c.UserContext(), by, act, list); err != nil {
		return err
	}
	return ui.Render(c, v.ask(form, list), severalPage(v))
}

// ask fills the page that asks to confirm mails to several tenants, and returns its HTTP status. Its form has only
// the deposits that the page names.
func (v *severalView) ask(form [16]byte, list []deposits.SelectedDeposit) (status int) {
	lang := v.Page.Lang
	v.Hidden = []hidden{{fieldIntent, string(v.Act)}, {fieldConfirm, confirmed}, {fieldForm, hex.EncodeToString(form[:])}}
	v.sort(list)
	for _, d := range list {
		if d.Left == "" {
			v.Hidden = append(v.Hidden, hidden{fieldDeposit, id.Deposit.Of(d.ID)})
		}
	}
	if len(v.Mailed) == 0 {
		v.Page.Title = textSeveralNobody[v.Act].In(lang)
		return http.StatusConflict
	}
	v.Page.Title, v.Says = textSeveralAsks[v.Act].of(lang, len(v.Mailed)), textSeveralSays[v.Act].In(lang)
	v.Heading, v.Button = textSeveralTo.In(lang), textButtonSend.In(lang)
	return http.StatusOK
}

// tellOutcome fills the page that shows for each deposit of a form whether its tenant was mailed.
func (v *severalView) tellOutcome(list []deposits.SelectedDeposit, outcome []deposits.BulkOutcome) {
	lang := v.Page.Lang
	left := map[string]deposits.MailSkipReason{}
	for _, o := range outcome {
		left[o.Deposit] = o.Left
	}
	for i := range list {
		list[i].Left = left[id.Deposit.Of(list[i].ID)]
		if list[i].Left == deposits.MailSkippedAccountLimit {
			v.Problem = textSeveralStopped.In(lang)
		}
	}
	v.sort(list)
	v.Page.Title, v.Heading = textSeveralSent.of(lang, len(v.Mailed)), textSeveralMailed.In(lang)
}

// sort divides the ticked deposits into those whose tenants are mailed and those left out.
func (v *severalView) sort(list []deposits.SelectedDeposit) {
	lang := v.Page.Lang
	for _, d := range list {
		line := severalLine{Reference: d.Reference, Amount: ui.Euros(lang, d.Amount),
			Tenant: tenantOf(d.Deposit)}
		if d.Debt != nil {
			line.Amount = ui.Euros(lang, d.CapturedAmount)
		}
		if line.Tenant == "" {
			line.Tenant = textSeveralUnnamed.In(lang)
		}
		if d.Client != nil {
			line.Email = d.Client.Email
		}
		if d.Left == "" {
			v.Mailed = append(v.Mailed, line)
			continue
		}
		line.Why = v.why(d)
		v.Left = append(v.Left, line)
	}
}

// why returns the text on why a ticked deposit's tenant is not mailed.
func (v *severalView) why(d deposits.SelectedDeposit) string {
	lang := v.Page.Lang
	switch d.Left {
	case deposits.MailSkippedNothingAwaited:
		if v.Act == deposits.ActRemindTenants && d.Debt != nil && d.Debt.State == deposit.CollectionRetrying {
			return textSeveralRetry.In(lang)
		}
		return leftOver[v.Act].In(lang, stateOf(d.Deposit, d.Debt, lang).Text)
	case deposits.MailSkippedRemindedRecently:
		return leftOut[d.Left].In(lang, ui.FormatDateTime(lang, d.Debt.AskedAt.In(v.Zone)))
	}
	return leftOut[d.Left].In(lang)
}

func (t plural) of(lang ui.Lang, n int) string {
	if n == 1 {
		return t.one.In(lang)
	}
	return t.several.In(lang, strconv.Itoa(n))
}

type severalView struct {
	Page    ui.Page
	Token   string
	Zone    *time.Location
	Act     deposits.BulkAct
	Done    string
	Problem string
	Says    string
	Heading string
	Mailed  []severalLine
	Left    []severalLine
	Hidden  []hidden
	Button  string // Text of the button that sends the mails; "" if none can be sent.
}

// severalLine is a deposit on the page of a form about several; Why is the reason for no mail.
type severalLine struct{ Reference, Tenant, Email, Amount, Why string }
