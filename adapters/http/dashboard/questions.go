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

// formDraft is a form of a deposit as it was sent. Its page, which asks once more or names the mistakes, is opened by a
// GET, so that Back and Reload work (pages.md, "Questions").
type formDraft struct {
	Fields    string        // typedFields alone, encoded as a form: the text may be no UTF-8
	Refused   []refusedFile `json:",omitempty"`
	LostFiles bool          `json:",omitempty"`
	Problem   string        `json:",omitempty"` // code of the fault that refused the form; "": none
	// Outcome is that of an act on several deposits, whose page tells it for as long as the draft is kept.
	Outcome []deposits.Outcome `json:",omitempty"`
}

// typedFields are the fields that are kept of a form of a deposit. A token, a code or a password is never among them.
var typedFields = []string{
	fieldIntent, fieldAmount, fieldWhole, fieldReason, fieldDescription, fieldComment, fieldEmail, fieldWaiting,
	fieldStartsOn, fieldEndsOn, fieldContract, fieldFirstName, fieldLastName, fieldCompany, fieldDeposit,
}

// typed gives the fields of a form that are kept.
func typed(c *fiber.Ctx) url.Values {
	values := url.Values{}
	for _, name := range typedFields {
		for _, value := range c.Request().PostArgs().PeekMulti(name) {
			values.Add(name, string(value))
		}
	}
	return values
}

// retype makes fields, encoded as a form, those of the request, for the readers of a form.
func retype(c *fiber.Ctx, fields string) { c.Request().PostArgs().Parse(fields) }

// ask keeps a form and leads to its page. problem is the code of the fault that refused the form; "": none.
func (p *pages) ask(c *fiber.Ctx, by caller, v desk.View, f actForm, problem string) error {
	fields := typed(c)
	fields.Del(fieldWaiting)
	for _, fileID := range f.waiting {
		fields.Add(fieldWaiting, id.File.Of(fileID))
	}
	d := formDraft{Fields: fields.Encode(), Refused: f.refused, LostFiles: f.lostFiles, Problem: problem}
	return p.keepDraft(c, by, f.form, d, site.At(site.Question, id.Deposit.Of(v.ID), hex.EncodeToString(f.form[:])))
}

// keepDraft keeps a form and leads to its page.
func (p *pages) keepDraft(c *fiber.Ctx, by caller, form [16]byte, d formDraft, page string) error {
	content, err := json.Marshal(d)
	if err != nil {
		return err
	}
	if err := p.Deposits.KeepDraft(c.UserContext(), by.Account.ID, p.Site.SessionToken(c), form,
		secret.Text(content)); err != nil {
		return err
	}
	return c.Redirect(page, http.StatusSeeOther)
}

// draft reads the form draft whose key is in the path of the request.
//
// Returns depositports.ErrDraftGone.
func (p *pages) draft(c *fiber.Ctx, accountID id.ID) (form [16]byte, d formDraft, err error) {
	key, err := hex.DecodeString(c.Params("form"))
	if err != nil || len(key) != len(form) {
		return form, d, depositports.ErrDraftGone
	}
	form = [16]byte(key)
	content, err := p.Deposits.Draft(c.UserContext(), accountID, p.Site.SessionToken(c), form)
	if err != nil {
		return form, d, err
	}
	return form, d, json.Unmarshal([]byte(content.Reveal()), &d)
}

// dropDraft forgets a form that has had its effect.
func (p *pages) dropDraft(c *fiber.Ctx, by caller, form [16]byte) {
	if err := p.Deposits.DropDraft(c.UserContext(), by.Account.ID, p.Site.SessionToken(c), form); err != nil {
		p.Log.WarnContext(c.UserContext(), "a form that had its effect is kept until its time is over", "error", err)
	}
}

// showQuestion shows the page of a form that was sent from the page of a deposit: the mistakes, or the page that asks
// once more. A form that is no longer kept leads to the deposit.
func (p *pages) showQuestion(c *fiber.Ctx, by caller) error {
	v, err := p.find(c, by)
	if err != nil {
		return err
	}
	form, d, err := p.draft(c, by.Account.ID)
	if errors.Is(err, depositports.ErrDraftGone) {
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
	if err := f.act().Possible(v.Deposit, v.Debt, v.Now); err != nil {
		return p.conflict(c, by, v, err)
	}
	if f.sender, err = deposits.FileSender(p.Site.SessionToken(c), v.ID); err != nil {
		return err
	}
	wrongCode := ""
	if d.Problem == twofactor.ErrWrongCode.Code {
		wrongCode = ui.FailureOf(d.Problem).Message.In(ui.LangOf(c))
	}
	return p.confirm(c, by, v, f, wrongCode)
}

// showNewAgain shows the form of a new deposit with its mistakes. A form that is no longer kept leads to an empty one.
func (p *pages) showNewAgain(c *fiber.Ctx, by caller) error {
	form, d, err := p.draft(c, by.Account.ID)
	if errors.Is(err, depositports.ErrDraftGone) {
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
	if len(in.mistakes) == 0 { // what ruled the form out is over
		status = http.StatusOK
		in.short = d.Problem == coverShort && p.outlasts(in)
	}
	return p.renderNew(c, by, status, in, hex.EncodeToString(form[:]))
}
