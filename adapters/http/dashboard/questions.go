package dashboard

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/deposits"
	"partnerdeposits/app/deposits/desk"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/site"
	"partnerdeposits/core/twofactor"
	depositports "partnerdeposits/ports/deposits"
)

// formDraft is a form as sent, stored for the page that asks to confirm it or shows its mistakes. A GET opens that
// page, so that Back and Reload work (pages.md, "Questions").
type formDraft struct {
	// The form's fields in typedFields, URL-encoded since they may be invalid UTF-8.
	Fields    string
	Refused   []refusedFile `json:",omitempty"`
	LostFiles bool          `json:",omitempty"`
	// Code of the error that refused the form; "" for none.
	Problem string `json:",omitempty"`
	// Outcome of an act on several deposits, shown as long as the draft is kept.
	Outcome []deposits.BulkOutcome `json:",omitempty"`
}

// typedFields lists the form fields that a draft keeps: never tokens, codes or passwords.
var typedFields = []string{
	fieldIntent, fieldAmount, fieldWhole, fieldReason, fieldDescription, fieldComment, fieldEmail, fieldWaiting,
	fieldStartsOn, fieldEndsOn, fieldContract, fieldFirstName, fieldLastName, fieldCompany, fieldDeposit,
}

func typed(c *fiber.Ctx) url.Values {
	values := url.Values{}
	for _, name := range typedFields {
		for _, value := range c.Request().PostArgs().PeekMulti(name) {
			values.Add(name, string(value))
		}
	}
	return values
}

// retype replaces the request's posted fields by the stored fields of a form, to parse the form as if just sent.
func retype(c *fiber.Ctx, fields string) { c.Request().PostArgs().Parse(fields) }

// ask stores a form of a deposit and redirects to its page, which asks to confirm it or shows mistakes. problem is
// the code of the fault that refused it; "" for none.
func (p *pages) ask(c *fiber.Ctx, by caller, v desk.DepositView, f actForm, problem string) error {
	fields := typed(c)
	fields.Del(fieldWaiting)
	for _, fileID := range f.waiting {
		fields.Add(fieldWaiting, id.File.Of(fileID))
	}
	d := formDraft{Fields: fields.Encode(), Refused: f.refused, LostFiles: f.lostFiles, Problem: problem}
	return p.keepDraft(c, by, f.form, d, site.FillPath(site.ConfirmDepositPath, id.Deposit.Of(v.ID),
		hex.EncodeToString(f.form[:])))
}

func (p *pages) keepDraft(c *fiber.Ctx, by caller, form [16]byte, d formDraft, page string) error {
	content, err := json.Marshal(d)
	if err != nil {
		return err
	}
	if err := p.Deposits.StoreFormDraft(c.UserContext(), by.Account.ID, p.Site.SessionToken(c), form,
		secret.Text(content)); err != nil {
		return err
	}
	return c.Redirect(page, http.StatusSeeOther)
}

// draft returns the stored form draft of the request's path, or depositports.ErrFormDraftGone.
func (p *pages) draft(c *fiber.Ctx, accountID id.ID) (form [16]byte, d formDraft, err error) {
	key, err := hex.DecodeString(c.Params("form"))
	if err != nil || len(key) != len(form) {
		return form, d, depositports.ErrFormDraftGone
	}
	form = [16]byte(key)
	content, err := p.Deposits.FindFormDraft(c.UserContext(), accountID, p.Site.SessionToken(c), form)
	if err != nil {
		return form, d, err
	}
	return form, d, json.Unmarshal([]byte(content.Reveal()), &d)
}

func (p *pages) dropDraft(c *fiber.Ctx, by caller, form [16]byte) {
	if err := p.Deposits.DeleteFormDraft(c.UserContext(), by.Account.ID, p.Site.SessionToken(c), form); err != nil {
		p.Log.WarnContext(c.UserContext(), "a form that had its effect is kept until its time is over", "error", err)
	}
}

// showQuestion shows a stored form of a deposit: its mistakes, or the request to confirm it. Without a draft it
// redirects to the deposit.
func (p *pages) showQuestion(c *fiber.Ctx, by caller) error {
	v, err := p.find(c, by)
	if err != nil {
		return err
	}
	form, d, err := p.draft(c, by.Account.ID)
	if errors.Is(err, depositports.ErrFormDraftGone) {
		return c.Redirect(depositPath(v.ID), http.StatusSeeOther)
	}
	if err != nil {
		return err
	}
	retype(c, d.Fields)
	f := p.actFormOf(c, v)
	f.form, f.lostFiles = form, d.LostFiles
	for _, file := range d.Refused {
		f.refuse(ui.LangOf(c), file)
	}
	if len(f.mistakes) > 0 {
		return p.renderMistakes(c, by, v, f)
	}
	if err := f.act().CheckPossible(v.Deposit, v.Debt, v.Now); err != nil {
		return p.conflict(c, by, v, err)
	}
	if f.sender, err = deposits.NewUploadSession(p.Site.SessionToken(c), v.ID); err != nil {
		return err
	}
	wrongCode := ""
	if d.Problem == twofactor.ErrWrongCode.Code {
		wrongCode = ui.ErrorTextOf(d.Problem).Message.In(ui.LangOf(c))
	}
	return p.confirm(c, by, v, f, wrongCode)
}

// showNewAgain shows the stored form of a new deposit with its mistakes. Without a draft it redirects to an empty
// form.
func (p *pages) showNewAgain(c *fiber.Ctx, by caller) error {
	form, d, err := p.draft(c, by.Account.ID)
	if errors.Is(err, depositports.ErrFormDraftGone) {
		return c.Redirect(pathNew, http.StatusSeeOther)
	}
	if err != nil {
		return err
	}
	retype(c, d.Fields)
	lang := ui.LangOf(c)
	in, status := p.newDepositOf(c, by, lang), http.StatusUnprocessableEntity
	if d.Problem == formUsed {
		in.mistakes, status = []ui.Mistake{{Field: fieldAmount, Text: textFormUsed.In(lang)}}, http.StatusConflict
	}
	// Answer with 200 if the mistakes have disappeared, for instance because a deposit's greatest amount was raised.
	if len(in.mistakes) == 0 {
		status = http.StatusOK
		in.short = d.Problem == coverShort && p.outlasts(in)
	}
	return p.renderNew(c, by, status, in, hex.EncodeToString(form[:]))
}
