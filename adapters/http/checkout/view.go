package checkout

import (
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/deposits/checkout"
	"partnerdeposits/core/agreement"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/tenant"
)

// returnLink is the link back to the partner's return URL of a deposit; Host is "" for none.
type returnLink struct {
	Host string
	URL  templ.SafeURL
}

func returnLinkOf(v checkout.View) returnLink {
	u, err := url.Parse(v.Deposit.ReturnURL)
	if v.Deposit.ReturnURL == "" || err != nil {
		return returnLink{}
	}
	return returnLink{Host: ui.HostForDisplay(u), URL: templ.SafeURL(backURL(v))}
}

type formView struct {
	Page  ui.Page
	View  checkout.View
	Lang  ui.Lang
	Path  string
	Token string
	First ui.Field
	Last  ui.Field
	Email ui.Field
	Agree ui.Field
	Terms []part // The words of the agreement, split at their links.
	Words string // Fingerprint of the agreement's words, to detect a change when the form is sent.
	// Whether the agreement's words have changed and must be read again.
	Unfold bool
	Notice string
	Alert  string
	// The errors of the form's fields; if there are any, the page shows neither Alert nor Notice.
	Mistakes []ui.Mistake
	Back     returnLink
}

func (v formView) covers() string {
	text := textCovers
	if v.View.Terms.Days > 0 {
		text = textCoversToday
	}
	return text.In(v.Lang, v.View.CompanyName, ui.Euros(v.Lang, v.View.Deposit.Amount),
		ui.FormatLongDate(v.Lang, v.View.Terms.Until))
}

func (v formView) label() string {
	text := textPay
	if v.View.Deposit.Status == deposit.PaymentIssue {
		text = textTryAgain
	}
	return text.In(v.Lang, ui.Euros(v.Lang, v.View.Fee))
}

// part is a piece of a text with links; URL is "" for a piece without a link.
type part struct {
	Text string
	URL  templ.SafeURL
}

// addresses maps the addresses of the imprint to the targets of their links. about is the subject of a mail to
// support; "" for none.
func addresses(i agreement.Imprint, about string) map[string]string {
	return map[string]string{i.TermsURL: i.TermsURL, i.PrivacyURL: i.PrivacyURL,
		i.SupportEmail: mailTo(i.SupportEmail, about)}
}

// mailTo returns a mailto link; about is the subject of the mail, "" for none.
func mailTo(address, about string) string {
	link := "mailto:" + url.PathEscape(address)
	if about == "" {
		return link
	}
	return link + "?subject=" + about
}

// linked splits a text at its web, mail and telephone addresses, which become links.
func linked(text string, urls map[string]string) []part {
	delete(urls, "")
	var out []part
	for {
		at, found := len(text), ""
		for address := range urls {
			n := strings.Index(text, address)
			if n >= 0 && (n < at || n == at && len(address) > len(found)) {
				at, found = n, address
			}
		}
		if found == "" {
			return append(out, part{Text: text})
		}
		out = append(out, part{Text: text[:at]}, part{Text: found, URL: templ.SafeURL(urls[found])})
		text = text[at+len(found):]
	}
}

func questions(v checkout.View, lang ui.Lang) []part {
	support := v.Terms.Imprint.SupportEmail
	if support == "" {
		return linked(textWhomOperator.In(lang, v.Operator), contacts(v))
	}
	return linked(textWhomSupport.In(lang, v.Operator, support), contacts(v))
}

func objection(v checkout.View, lang ui.Lang) []part {
	support := v.Terms.Imprint.SupportEmail
	if support == "" {
		return linked(textObjectTell.In(lang, v.Operator, v.Deposit.Reference), contacts(v))
	}
	return linked(textObjectWrite.In(lang, v.Operator, support, v.Deposit.Reference), contacts(v))
}

// contacts maps the addresses for questions about a deposit to the targets of their links.
func contacts(v checkout.View) map[string]string {
	all := addresses(v.Terms.Imprint, v.Deposit.Reference)
	if all[v.Contact] != "" {
		return all
	}
	all[v.Contact] = mailTo(v.Contact, v.Deposit.Reference)
	if !strings.Contains(v.Contact, "@") {
		all[v.Contact] = "tel:" + strings.Map(dialled, v.Contact)
	}
	return all
}

// dialled drops characters of a telephone number that are not dialled, such as blanks.
func dialled(r rune) rune {
	if r == '+' || r >= '0' && r <= '9' {
		return r
	}
	return -1
}

type finalView struct {
	Page    ui.Page
	View    checkout.View
	Lang    ui.Lang
	Title   string
	Message string
	Back    returnLink
}

// secured reports whether the deposit's cover is running.
func (v finalView) secured() bool { return v.View.Deposit.Status == deposit.Active }

type giveUpView struct {
	Page  ui.Page
	View  checkout.View
	Path  string
	Token string
}

func (p *pages) askToGiveUp(c *fiber.Ctx, v checkout.View) error {
	lang := ui.LangOf(c)
	page := ui.Page{Lang: lang, Query: ui.RawQuery(c), Title: textGiveUpTitle.In(lang)}
	return ui.Render(c, fiber.StatusOK,
		giveUpPage(giveUpView{Page: page, View: v, Path: pagePath(c), Token: p.Site.FormToken(c)}))
}

type retryView struct {
	Error     ui.ErrorView
	RetryPath string
}

// render shows the checkout form or, after the end of the checkout, its result. wrong lists the tenant's mistakes.
func (p *pages) render(c *fiber.Ctx, status int, v checkout.View, person tenant.Person,
	wrong []tenant.FieldMistake) error {
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
	f.agreement(v.Terms, wrong)
	f.fields(person)
	return ui.Render(c, status, formPage(f))
}

// renderReturn shows the result of a checkout without its form, to a browser with only the return token.
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

func (v *formView) agreement(terms agreement.Terms, wrong []tenant.FieldMistake) {
	locale := string(v.Lang)
	words := terms.FullText(locale)
	v.Words, v.Terms = agreement.Fingerprint(words), linked(words, addresses(terms.Imprint, ""))
	v.Agree = ui.Field{Name: fieldAgree, Label: terms.ShortText(locale), Required: true}
	n := slices.IndexFunc(wrong, func(m tenant.FieldMistake) bool { return m.Field == fieldAgree })
	if len(wrong) > 0 && n < 0 {
		v.Agree.Value = ui.CheckboxCheckedValue
	}
	v.Unfold = n >= 0 && wrong[n].Fault.Is(agreement.ErrChanged)
}

func (v *formView) fields(person tenant.Person) {
	v.First = ui.Field{Name: fieldFirstName, Type: "text", Label: textFirstName.In(v.Lang), Value: person.FirstName,
		Autocomplete: "given-name", MaxLength: tenant.MaxNameLength, Required: true}
	v.Last = ui.Field{Name: fieldLastName, Type: "text", Label: textLastName.In(v.Lang), Value: person.LastName,
		Autocomplete: "family-name", MaxLength: tenant.MaxNameLength, Required: true}
	v.Email = ui.Field{Name: fieldEmail, Type: "email", Label: textEmail.In(v.Lang), Value: person.Email,
		Autocomplete: "email", MaxLength: 254, Required: true}
	for _, m := range v.Mistakes {
		for _, f := range []*ui.Field{&v.First, &v.Last, &v.Email, &v.Agree} {
			if f.Name == m.Field {
				f.Error = m.Text
			}
		}
	}
}

func mistakes(wrong []tenant.FieldMistake, lang ui.Lang) []ui.Mistake {
	out := make([]ui.Mistake, 0, len(wrong))
	for _, m := range wrong {
		out = append(out, ui.Mistake{Field: m.Field, Text: textOf(m).In(lang)})
	}
	return out
}

func textOf(m tenant.FieldMistake) ui.LocalizedText {
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

func finalTitle(v checkout.View) ui.LocalizedText {
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
	case v.Deposit.StatusReason == deposit.TriggerTenantDeclined.StatusReason():
		return textDeclined
	case v.Deposit.StatusReason == deposit.TriggerTenantAbandoned.StatusReason():
		return textAbandoned
	default:
		return textCancelled
	}
}

func finalMessage(v checkout.View, lang ui.Lang) string {
	d := v.Deposit
	switch {
	case d.Status == deposit.Active:
		return textSecuredMessage.In(lang, v.CompanyName, ui.Euros(lang, d.Amount), ui.FormatLongDate(lang, d.ExpiresAt))
	case d.Status == deposit.Closed:
		return textClosedMessage.In(lang)
	case d.Status == deposit.Captured:
		return textCapturedMessage.In(lang, v.CompanyName, ui.Euros(lang, d.CapturedAmount), ui.Euros(lang, d.Amount)) +
			debtMessage(v, lang)
	case v.StayOver:
		return textStayOverMessage.In(lang)
	case v.Expired:
		return textExpiredMessage.In(lang, v.CompanyName)
	case d.StatusReason == deposit.TriggerTenantDeclined.StatusReason():
		return textDeclinedMessage.In(lang, v.CompanyName)
	case d.StatusReason == deposit.TriggerTenantAbandoned.StatusReason():
		return textAbandonedMessage.In(lang, v.CompanyName)
	default:
		return textCancelledMessage.In(lang, v.CompanyName)
	}
}
