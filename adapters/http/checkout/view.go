package checkout

import (
	"net/url"
	"slices"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/deposits/checkout"
	"partnerdeposits/core/agreement"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/tenant"
)

// returnLink is the link to the deposit's return URL. Host is "" without a return URL.
type returnLink struct {
	Host string
	URL  templ.SafeURL
}

func returnLinkOf(v checkout.View) returnLink {
	u, err := url.Parse(v.Deposit.ReturnURL)
	if v.Deposit.ReturnURL == "" || err != nil {
		return returnLink{}
	}
	return returnLink{Host: ui.DisplayHost(u), URL: templ.SafeURL(backURL(v))}
}

// formView is the data of the page of a deposit that can still be secured.
type formView struct {
	Page   ui.Page
	View   checkout.View
	Lang   ui.Lang
	Path   string
	Token  string // CSRF token of the forms
	Fields []ui.Field
	Words  string // Fingerprint of the words of the agreement
	Notice string
	Alert  string
	// Mistakes are the errors of the fields; with them there is no Alert and no Notice.
	Mistakes []ui.Mistake
	Back     returnLink
}

// coverUntil tells until when the guarantee holds.
func (v formView) coverUntil() string {
	text := textCoverUntil
	if v.View.Terms.Days > 0 {
		text = textCoverToday
	}
	return text.In(v.Lang, ui.LongDate(v.Lang, v.View.Terms.Until))
}

// finalView is the data of the page of a deposit whose checkout is over.
type finalView struct {
	Page    ui.Page
	View    checkout.View
	Lang    ui.Lang
	Title   string
	Message string
	Back    returnLink
}

// giveUpView is the data of the page that asks once more before the checkout is given up.
type giveUpView struct {
	Page  ui.Page
	View  checkout.View
	Path  string
	Token string // CSRF token of the form
}

func (p *pages) askToGiveUp(c *fiber.Ctx, v checkout.View) error {
	lang := ui.LangOf(c)
	page := ui.Page{Lang: lang, Query: ui.RawQuery(c), Title: textGiveUpTitle.In(lang)}
	return ui.Render(c, fiber.StatusOK,
		giveUpPage(giveUpView{Page: page, View: v, Path: pagePath(c), Token: p.Site.FormToken(c)}))
}

// typeCheckbox is the type of a field that ui.Checkbox renders.
const typeCheckbox = "checkbox"

// retryView is the data of the page that an outage shows.
type retryView struct {
	Error     ui.ErrorView
	RetryPath string
}

// render shows the form or, after the end of the checkout, the result. wrong are the mistakes in person, if any.
func (p *pages) render(c *fiber.Ctx, status int, v checkout.View, person tenant.Person, wrong []tenant.Mistake) error {
	lang := ui.LangOf(c)
	page := ui.Page{Lang: lang, Query: ui.RawQuery(c)}
	if v.Deposit.Status == deposit.Captured && v.Debt != nil {
		return p.renderDebt(c, v, page)
	}
	if !v.Open {
		page.Title = finalTitle(v).In(lang)
		return ui.Render(c, fiber.StatusOK, finalPage(finalView{
			Page: page, View: v, Lang: lang, Title: page.Title, Message: finalMessage(v, lang), Back: returnLinkOf(v),
		}))
	}
	f := formView{
		Page: page, View: v, Lang: lang, Path: pagePath(c), Token: p.Site.FormToken(c), Notice: notice(c, v, lang),
	}
	f.Page.Title = textTitle.In(lang)
	if v.Deposit.Status == deposit.PaymentIssue {
		f.Back = returnLinkOf(v)
		f.Alert = textPaymentFailed.In(lang)
	}
	if len(wrong) > 0 {
		f.Page.ErrorCode, f.Alert, f.Notice = wrong[0].Fault.Code, "", ""
		f.Mistakes = mistakes(wrong, lang)
	}
	words := v.Terms.Words(string(lang))
	agreed := ""
	if len(wrong) > 0 && !slices.ContainsFunc(wrong, func(m tenant.Mistake) bool { return m.Field == fieldAgree }) {
		agreed = ui.Checked
	}
	f.Words = agreement.Fingerprint(words)
	f.Fields = fields(person, words, agreed, f.Mistakes, lang)
	return ui.Render(c, status, formPage(f))
}

// renderReturn shows the result to a browser that knows no more than the return token: without the form.
func (p *pages) renderReturn(c *fiber.Ctx, v checkout.View) error {
	lang := ui.LangOf(c)
	title, message := finalTitle(v).In(lang), ""
	if v.Open {
		title, message = textReopen.In(lang), textReopenUnpaid.In(lang)
		if v.Deposit.Status == deposit.PaymentIssue {
			message = textReopenFailed.In(lang)
		}
	} else {
		message = finalMessage(v, lang)
	}
	return ui.Render(c, fiber.StatusOK, finalPage(finalView{
		Page: ui.Page{Lang: lang, Query: ui.RawQuery(c), Title: title}, View: v, Lang: lang, Title: title, Message: message,
		Back: returnLinkOf(v),
	}))
}

func notice(c *fiber.Ctx, v checkout.View, lang ui.Lang) string {
	switch {
	case v.PaymentInFlight:
		return textPaymentOpen.In(lang)
	case c.Query(queryNotice) == noticeUnpaid && v.Deposit.Status != deposit.PaymentIssue:
		return textUnpaid.In(lang)
	default:
		return ""
	}
}

// fields gives the inputs, each with its mistake.
func fields(person tenant.Person, words, agreed string, wrong []ui.Mistake, lang ui.Lang) []ui.Field {
	out := []ui.Field{
		{Name: fieldFirstName, Type: "text", Label: textFirstName.In(lang), Value: person.FirstName,
			Autocomplete: "given-name", MaxLength: tenant.MaxName, Required: true},
		{Name: fieldLastName, Type: "text", Label: textLastName.In(lang), Value: person.LastName, Autocomplete: "family-name",
			MaxLength: tenant.MaxName, Required: true},
		{Name: fieldEmail, Type: "email", Label: textEmail.In(lang), Value: person.Email, Autocomplete: "email",
			MaxLength: 254, Required: true},
		{Name: fieldAgree, Type: typeCheckbox, Label: words, Value: agreed, Required: true},
	}
	for _, m := range wrong {
		i := slices.IndexFunc(out, func(f ui.Field) bool { return f.Name == m.Field })
		out[i].Error = m.Text
	}
	return out
}

// mistakes words the mistakes of the tenant.
func mistakes(wrong []tenant.Mistake, lang ui.Lang) []ui.Mistake {
	out := make([]ui.Mistake, 0, len(wrong))
	for _, m := range wrong {
		out = append(out, ui.Mistake{Field: m.Field, Text: textOf(m).In(lang)})
	}
	return out
}

func textOf(m tenant.Mistake) ui.Text {
	missing := m.Fault.Is(fault.ErrMissingField)
	switch {
	case m.Fault.Is(agreement.ErrChanged):
		return textAgreementChanged
	case m.Field == fieldAgree:
		return textNotAgreed
	case m.Field == fieldFirstName && missing:
		return textNoFirstName
	case m.Field == fieldFirstName:
		return textBadFirstName
	case m.Field == fieldLastName && missing:
		return textNoLastName
	case m.Field == fieldLastName:
		return textBadLastName
	default:
		return textBadEmail
	}
}

// finalTitle and finalMessage describe the result of the checkout.
func finalTitle(v checkout.View) ui.Text {
	switch {
	case v.Deposit.Status == deposit.Active:
		return textSecured
	case v.Deposit.Status == deposit.Closed:
		return textClosed
	case v.Deposit.Status == deposit.Captured:
		return textCaptured
	case v.StayOver:
		return textStayOver
	case v.Expired:
		return textExpired
	case v.Deposit.StatusReason == deposit.TenantDeclined.Reason():
		return textDeclined
	case v.Deposit.StatusReason == deposit.TenantAbandoned.Reason():
		return textAbandoned
	default:
		return textCancelled
	}
}

func finalMessage(v checkout.View, lang ui.Lang) string {
	d := v.Deposit
	switch {
	case d.Status == deposit.Active:
		return textSecuredMessage.In(lang, v.CompanyName, ui.Euros(lang, d.Amount), ui.LongDate(lang, d.ExpiresAt))
	case d.Status == deposit.Closed:
		return textClosedMessage.In(lang)
	case d.Status == deposit.Captured:
		return textCapturedMessage.In(lang, v.CompanyName, ui.Euros(lang, d.CapturedAmount)) + debtMessage(v, lang)
	case v.StayOver:
		return textStayOverMessage.In(lang)
	case v.Expired:
		return textExpiredMessage.In(lang, v.CompanyName)
	case d.StatusReason == deposit.TenantDeclined.Reason():
		return textDeclinedMessage.In(lang, v.CompanyName)
	case d.StatusReason == deposit.TenantAbandoned.Reason():
		return textAbandonedMessage.In(lang, v.CompanyName)
	default:
		return textCancelledMessage.In(lang, v.CompanyName)
	}
}
