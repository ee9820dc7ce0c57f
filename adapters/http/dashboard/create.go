package dashboard

import (
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/accounts/operators"
	"partnerdeposits/app/deposits"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/money"
	"partnerdeposits/core/oneline"
	"partnerdeposits/core/site"
	"partnerdeposits/core/tenant"
	"partnerdeposits/core/zone"
	ports "partnerdeposits/ports/platform"
)

type newDeposit struct {
	amount, startsOn, endsOn, contract string
	person                             tenant.Person
	mistakes                           []ui.Mistake
	// Whether the form was sent after the session had ended, without effect.
	restored bool
	// Whether the stay is longer than its cover can be, so that the page asks for confirmation.
	short bool
	// Whether the stay of a new deposit is already over, a mistake of the form.
	over  bool
	draft deposit.Draft
}

func (p *pages) showNew(c *fiber.Ctx, by caller) error {
	var in newDeposit
	if p.restored(c, by, pathNew) {
		in = p.newDepositOf(c, by, ui.LangOf(c))
		in.restored, in.mistakes = true, nil
	}
	return p.renderNew(c, by, http.StatusOK, in, p.newForm())
}

// create creates the deposit of a form, once even if it is sent twice, and mails its checkout link.
func (p *pages) create(c *fiber.Ctx, by caller) error {
	ui.SetLanguageLinkPath(c, pathNew)
	if err := p.Site.CheckCSRF(c); err != nil {
		return ui.RenderFormExpired(c, pathNew)
	}
	if ui.PostValue(c, fieldIntent) != intentCreate {
		return c.Redirect(pathNew, http.StatusSeeOther)
	}
	lang := ui.LangOf(c)
	in := p.newDepositOf(c, by, lang)
	form := p.formID(c)
	// Go on if the only mistake is that the stay is over: a form that created its deposit before must get the same
	// response again.
	onlyOver := in.over && len(in.mistakes) == 1
	if len(in.mistakes) > 0 && !onlyOver {
		return p.askNew(c, by, form, "")
	}
	if p.outlasts(in) && ui.PostValue(c, fieldConfirm) != confirmed {
		return p.askNew(c, by, form, coverShort)
	}
	if in.person.Email != "" && !onlyOver {
		// Refuse an unverified address before the mail counts against a rate limit.
		if p.Operators.HasUnverifiedEmail(by.Operator) {
			return p.unverified(c, by)
		}
		if err := p.limited(c, by, operators.LinkMailRateLimit); err != nil {
			return err
		}
	}
	made, err := p.Deposits.CreateByOperator(c.UserContext(), by,
		deposits.OperatorDeposit{Draft: in.draft, Tenant: in.person, Form: form})
	switch {
	case errors.Is(err, connect.ErrEmailUnverified):
		return p.unverified(c, by)
	// Another request with the same form is still running; the list will show its deposit.
	case errors.Is(err, ports.ErrIdempotencyKeyInUse):
		return c.Redirect(pathDeposits, http.StatusSeeOther)
	// The form was changed and sent again after it had created a deposit.
	case errors.Is(err, ports.ErrIdempotencyKeyReused):
		return p.askNew(c, by, [16]byte(p.Entropy.NewID()), formUsed)
	case fault.KindOf(err) == fault.Invalid && err != nil:
		// Since the fields were checked, the stay has ended or a deposit's greatest amount has changed.
		return p.askNew(c, by, [16]byte(p.Entropy.NewID()), "")
	case err != nil:
		return err
	}
	p.dropDraft(c, by, form)
	return c.Redirect(depositPath(made)+"?"+queryDone+"="+createdNow, http.StatusSeeOther)
}

// formUsed is the problem code of a form that already created a deposit.
const formUsed = "form_used"

// coverShort is the problem code of a stay that is longer than its cover can be.
const coverShort = "cover_short"

// outlasts reports whether the stay ends after the latest possible end of its cover.
func (p *pages) outlasts(in newDeposit) bool {
	return in.draft.ContractEndAt.After(p.Desk.LatestCoverEnd(in.draft.ContractStartAt))
}

// askNew stores the form of a new deposit and redirects to its page, which shows its mistakes.
func (p *pages) askNew(c *fiber.Ctx, by caller, form [16]byte, problem string) error {
	page := site.FillPath(site.RetryNewDepositPath, hex.EncodeToString(form[:]))
	return p.keepDraft(c, by, form, formDraft{Fields: typed(c).Encode(), Problem: problem}, page)
}

func (p *pages) newDepositOf(c *fiber.Ctx, by caller, lang ui.Lang) newDeposit {
	value := func(field string) string { return strings.TrimSpace(ui.PostValue(c, field)) }
	in := newDeposit{
		amount: value(fieldAmount), startsOn: value(fieldStartsOn), endsOn: value(fieldEndsOn),
		contract: value(fieldContract),
		person:   tenant.Person{FirstName: value(fieldFirstName), LastName: value(fieldLastName), Email: value(fieldEmail)},
	}
	mistake := func(field string, text ui.LocalizedText, args ...any) {
		in.mistakes = append(in.mistakes, ui.Mistake{Field: field, Text: text.In(lang, args...)})
	}
	amount, ok := parseAmount(in.amount)
	if !ok || amount < deposit.MinAmount || amount > by.DepositCeiling() {
		mistake(fieldAmount, textBadNewAmount, ui.Euros(lang, deposit.MinAmount), ui.Euros(lang, by.DepositCeiling()))
	}
	starts, ok := day(in.startsOn, by.Account.Zone())
	if !ok || in.startsOn == "" {
		mistake(fieldStartsOn, textBadDate)
	}
	ends, ok := day(in.endsOn, by.Account.Zone())
	in.draft = draftOf(amount, starts, ends, in.contract)
	switch {
	case !ok || in.endsOn == "":
		mistake(fieldEndsOn, textBadDate)
	case ends.Before(starts):
		mistake(fieldEndsOn, textBadPeriod)
	case p.Desk.HasStayEnded(in.draft):
		in.over = true
		mistake(fieldEndsOn, textStayOver)
	}
	if utf8.RuneCountInString(in.contract) > deposit.MaxRentalContractLength || !oneline.Valid(in.contract) {
		mistake(fieldContract, textBadContract, deposit.MaxRentalContractLength)
	}
	for _, m := range in.personMistakes() {
		mistake(m.Field, badPerson[m.Field])
	}
	return in
}

// draftOf returns a deposit's terms; the rental period ends with the last second of its last day.
func draftOf(amount money.Cents, starts, ends time.Time, contract string) deposit.Draft {
	return deposit.Draft{Amount: amount, ContractStartAt: starts, ContractEndAt: zone.NextDay(ends).Add(-time.Second),
		RentalContract: contract}
}

// personMistakes checks the tenant's fields: all may be empty, or all but the e-mail address.
func (in newDeposit) personMistakes() []tenant.FieldMistake {
	if in.person.FirstName != "" || in.person.LastName != "" {
		return in.person.Mistakes()
	}
	if in.person.Email == "" {
		return nil
	}
	if err := (tenant.MailContact{Email: in.person.Email}).Validate(""); err != nil {
		return []tenant.FieldMistake{{Field: fieldEmail, Fault: fault.FromError(err)}}
	}
	return nil
}

// feeOf returns the text about the tenant's fee: exact for a valid amount, otherwise the general rule.
func feeOf(in newDeposit, lang ui.Lang) string {
	amount := in.draft.Amount
	if amount < deposit.MinAmount || mistakeOf(in.mistakes, fieldAmount) != "" {
		return textFeeRule.In(lang, ui.FormatPercent(lang, deposit.FeeBasisPoints), ui.Euros(lang, deposit.LeastFee))
	}
	return textFeeExact.In(lang, ui.Euros(lang, amount), ui.Euros(lang, deposit.Fee(amount)))
}

func (p *pages) renderNew(c *fiber.Ctx, by caller, status int, in newDeposit, form string) error {
	lang := ui.LangOf(c)
	v := newView{Page: p.page(c, by, ui.SectionDeposits, textNew.In(lang)), Token: p.Site.FormToken(c), Form: form,
		Mistakes: in.mistakes, Restored: in.restored, Fee: feeOf(in, lang)}
	if in.short {
		v.Short = textCoverEnds.In(lang, ui.FormatLongDate(lang, p.Desk.LatestCoverEnd(in.draft.ContractStartAt)))
	}
	if len(in.mistakes) > 0 {
		v.Page.ErrorCode = "invalid_field"
	}
	field := func(f ui.Field, label ui.LocalizedText, value string) ui.Field {
		f.Label, f.Value, f.Error = label.In(lang), value, mistakeOf(in.mistakes, f.Name)
		return f
	}
	reach := textCoverReach.In(lang, ui.FormatDate(lang, p.Desk.LatestCoverEnd(time.Time{}.In(by.Account.Zone()))))
	limits := textAmountLimits.In(lang, ui.Euros(lang, deposit.MinAmount), ui.Euros(lang, by.DepositCeiling()))
	v.Fields = []ui.Field{
		field(ui.Field{Name: fieldAmount, Type: "text", InputMode: "decimal", Autocomplete: "off", MaxLength: 12,
			Required: true, Hint: limits}, textAmountEuros, in.amount),
		field(ui.Field{Name: fieldStartsOn, Type: "date", Required: true}, textStartsOn, in.startsOn),
		field(ui.Field{Name: fieldEndsOn, Type: "date", Required: true, Hint: reach}, textEndsOn, in.endsOn),
		field(ui.Field{Name: fieldContract, Type: "text", Autocomplete: "off", MaxLength: deposit.MaxRentalContractLength},
			textContractOptional, in.contract),
	}
	v.Tenant = []ui.Field{
		field(ui.Field{Name: fieldFirstName, Type: "text", Autocomplete: "off", MaxLength: tenant.MaxNameLength},
			textFirstName,
			in.person.FirstName),
		field(ui.Field{Name: fieldLastName, Type: "text", Autocomplete: "off", MaxLength: tenant.MaxNameLength}, textLastName,
			in.person.LastName),
		field(ui.Field{Name: fieldEmail, Type: "email", Autocomplete: "off", Hint: textEmailHint.In(lang)}, textEmail,
			in.person.Email),
	}
	return ui.Render(c, status, newPage(v))
}

type newView struct {
	Page     ui.Page
	Token    string
	Form     string
	Mistakes []ui.Mistake
	Short    string // Warning that the deposit's cover ends before the stay; "" for none.
	// Whether the form was sent after the session had ended and is shown again.
	Restored bool
	Fields   []ui.Field
	Tenant   []ui.Field
	Fee      string
}
