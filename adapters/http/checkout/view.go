package checkout

import (
	"net/url"
	"strings"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/checkout"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/tenant"
)

// way is the link back to where the tenant came from; Host is "" where there is none.
type way struct {
	Host string
	URL  templ.SafeURL
}

func wayBack(v checkout.View) way {
	u, err := url.Parse(v.Deposit.ReturnURL)
	if v.Deposit.ReturnURL == "" || err != nil {
		return way{}
	}
	return way{Host: ui.DisplayHost(u), URL: templ.SafeURL(backURL(v))}
}

// formView is the page of a deposit that can still be secured.
type formView struct {
	Page   ui.Page
	View   checkout.View
	Lang   ui.Lang
	Path   string
	Token  string // of the forms
	Fields []ui.Field
	Notice string
	Alert  string
	Mend   string // the field that the alert is about
	Back   way
}

// finalView is the page of a deposit whose checkout is over.
type finalView struct {
	Page    ui.Page
	View    checkout.View
	Lang    ui.Lang
	Title   string
	Message string
	Back    way
}

// retryView is the page of a step that could not be taken now.
type retryView struct {
	Error ui.ErrorView
	Again string
}

// render shows the form or, where the checkout is over, what became of the deposit. wrong is what was entered wrongly.
func (p *pages) render(c *fiber.Ctx, status int, v checkout.View, person tenant.Person, wrong error) error {
	lang := ui.LangOf(c)
	page := ui.Page{Lang: lang, Query: ui.RawQuery(c), NoSwitch: c.Method() != fiber.MethodGet}
	if !v.Open {
		page.Title = finalTitle(v).In(lang)
		return ui.Render(c, fiber.StatusOK, finalPage(finalView{
			Page: page, View: v, Lang: lang, Title: page.Title, Message: finalMessage(v, lang), Back: wayBack(v),
		}))
	}
	f := formView{
		Page: page, View: v, Lang: lang, Path: pagePath(c), Token: p.Site.FormToken(c), Notice: notice(c, v, lang),
	}
	f.Page.Title = textTitle.In(lang)
	if v.Deposit.Status == deposit.PaymentIssue {
		f.Back = wayBack(v)
		f.Alert = textPaymentFailed.In(lang)
	}
	failedField, failedText := mistake(wrong, lang)
	if failedField != "" {
		f.Page.ErrorCode = fault.Of(wrong).Code
		f.Alert, f.Mend, f.Notice = failedText, failedField, ""
	}
	f.Fields = fields(person, failedField, failedText, lang)
	return ui.Render(c, status, formPage(f))
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

func fields(person tenant.Person, failedField, failedText string, lang ui.Lang) []ui.Field {
	out := []ui.Field{
		{Name: fieldFirstName, Type: "text", Label: textFirstName.In(lang), Value: person.FirstName, Autocomplete: "given-name", MaxLength: tenant.MaxName, Required: true},
		{Name: fieldLastName, Type: "text", Label: textLastName.In(lang), Value: person.LastName, Autocomplete: "family-name", MaxLength: tenant.MaxName, Required: true},
		{Name: fieldEmail, Type: "email", Label: textEmail.In(lang), Value: person.Email, Autocomplete: "email", MaxLength: 254, Required: true},
	}
	for i := range out {
		if out[i].Name == failedField {
			out[i].Error, out[i].Autofocus = failedText, true
		}
	}
	return out
}

// mistake gives the field that a validation is about, and what to say of it.
func mistake(err error, lang ui.Lang) (field, text string) {
	if err == nil {
		return "", ""
	}
	f := fault.Of(err)
	field, _, _ = strings.Cut(f.Message, ":")
	missing := f.Is(fault.ErrMissingField)
	switch {
	case field == fieldFirstName && missing:
		return field, textNoFirstName.In(lang)
	case field == fieldFirstName:
		return field, textBadFirstName.In(lang)
	case field == fieldLastName && missing:
		return field, textNoLastName.In(lang)
	case field == fieldLastName:
		return field, textBadLastName.In(lang)
	default:
		return fieldEmail, textBadEmail.In(lang)
	}
}

// finalTitle and finalMessage tell what became of the deposit.
func finalTitle(v checkout.View) ui.Text {
	switch {
	case v.Deposit.Status == deposit.Active:
		return textSecured
	case v.Deposit.Status == deposit.Closed:
		return textClosed
	case v.Deposit.Status == deposit.Captured:
		return textCaptured
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
		return textSecuredMessage.In(lang, v.CompanyName, euros(d.Amount, lang), date(d.ExpiresAt, lang))
	case d.Status == deposit.Closed:
		return textClosedMessage.In(lang)
	case d.Status == deposit.Captured:
		return textCapturedMessage.In(lang, v.CompanyName, euros(d.CapturedAmount, lang))
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
