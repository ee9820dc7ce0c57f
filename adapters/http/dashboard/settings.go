package dashboard

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/accounts/operators"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/twofactor"
	"partnerdeposits/core/zone"
)

func (p *pages) showSettings(c *fiber.Ctx, by caller) error {
	done, known := settingsDone[c.Query(queryDone)]
	v := settingsView{}
	if p.restored(c, by, pathSettings) {
		v = settingsView{Done: textRestored.In(ui.LangOf(c)), Intent: ui.PostValue(c, fieldIntent), Sent: settingsSent(c)}
	} else if known {
		v.Done = done.In(ui.LangOf(c))
	}
	return p.renderSettings(c, by, http.StatusOK, v)
}

func (p *pages) renderSettings(c *fiber.Ctx, by caller, status int, v settingsView) error {
	lang := ui.LangOf(c)
	page := p.page(c, by, ui.SectionSettings, textSettings.In(lang))
	var err error
	if v.CoverMails, err = p.Operators.WantsEndingCoverMails(c.UserContext(), by.Operator); err != nil {
		return err
	}
	if v.Codes, err = p.Operators.TwoFactorState(c.UserContext(), by.Operator.ID); err != nil {
		return err
	}
	page.ReadAt, page.ErrorCode = pathSettings, v.Page.ErrorCode
	v.Page, v.Token, v.Email, v.Unverified = page, page.FormToken, by.Operator.Email,
		p.Operators.HasUnverifiedEmail(by.Operator)
	v.Zone = by.Account.Zone()
	v.fields(by)
	sessions, err := p.Operators.ListSessions(c.UserContext(), by.Operator.ID, p.Site.SessionToken(c))
	if err != nil {
		return err
	}
	for _, s := range sessions {
		name := s.Browser
		if name == "" {
			name = textSomeBrowser.In(lang)
		}
		v.Sessions = append(v.Sessions, sessionRow{
			Name: s.Name, Browser: name, This: s.This,
			Used:  textLastUsed.In(lang, ui.FormatDateTime(lang, s.LastSeenAt.In(v.Zone))),
			Since: textSince.In(lang, ui.FormatDateTime(lang, s.CreatedAt.In(v.Zone))),
		})
		v.Others = v.Others || !s.This
	}
	return ui.Render(c, status, settingsPage(v))
}

func (p *pages) verifyView(c *fiber.Ctx, by caller, lead string) verifyView {
	v := verifyView{Page: p.page(c, by, ui.SectionSettings, textVerifyFirst.In(ui.LangOf(c))), Lead: lead,
		Token: p.Site.FormToken(c)}
	v.Page.Wide, v.Page.ReadAt, v.Page.ErrorCode = false, pathSettings, connect.ErrEmailUnverified.Code
	return v
}

// unverified refuses an act that needs a verified e-mail address, and offers to send the verification mail again.
func (p *pages) unverified(c *fiber.Ctx, by caller) error {
	return ui.Render(c, problem.HTTPStatus(connect.ErrEmailUnverified.Kind),
		unverifiedPage(p.verifyView(c, by, textVerifyFirstLead.In(ui.LangOf(c)))))
}

// settled redirects to the settings page, with the message that the form took effect.
func settled(c *fiber.Ctx, done string) error {
	return c.Redirect(pathSettings+"?"+queryDone+"="+done, http.StatusSeeOther)
}

func (p *pages) browserOf(c *fiber.Ctx) operators.Browser {
	return operators.Browser{Session: p.Site.SessionToken(c), Network: ui.NetworkOfIP(c.IP()), Name: ui.BrowserOf(c)}
}

// field fills a field of a settings form: label, sent text and mistake. intent names the form.
func (v *settingsView) field(intent string, f ui.Field, label ui.LocalizedText) ui.Field {
	f.Form, f.Label, f.Required = intent, label.In(v.Page.Lang), true
	if v.Intent == intent && slices.Contains([]string{fieldEmail, fieldCompany, fieldContact}, f.Name) {
		f.Value = v.Sent[f.Name]
	}
	if v.Mistake != nil && v.Mistake.Field == intent+"-"+f.Name {
		f.Error = v.Mistake.Text
	}
	return f
}

func (v *settingsView) fields(by caller) {
	current := ui.Field{Name: fieldCurrent, Type: "password", Autocomplete: "current-password", MaxLength: 200}
	fresh := ui.Field{Name: fieldNew, Type: "password", Autocomplete: "new-password", MinLength: 10, MaxLength: 200,
		Hint: textNewHint.In(v.Page.Lang)}
	v.Password = []ui.Field{v.field(intentPassword, current, textCurrent), v.field(intentPassword, fresh, textNewPassword)}
	email := ui.Field{Name: fieldEmail, Type: "email", Autocomplete: "email", MaxLength: 254}
	v.Address = []ui.Field{v.field(intentEmail, email, textNewAddress), v.field(intentEmail, current, textCurrent)}
	if v.Codes.On {
		v.Address = append(v.Address, codeField(intentEmail, v.Page.Lang, v.errorOf(intentEmail, fieldCode)))
	}
	company := ui.Field{Name: fieldCompany, Type: "text", Autocomplete: "organization", MaxLength: 120,
		Value: by.Account.CompanyName}
	v.Company = v.field(intentCompany, company, textCompany)
	contact := ui.Field{Name: fieldContact, Type: "text", Autocomplete: "off", MaxLength: 254,
		Value: by.Account.Contact, Hint: textContactHint.In(v.Page.Lang)}
	v.Contact = v.field(intentContact, contact, textContactOf)
	v.Contact.Required = false
	locale := by.Operator.Locale
	if !connect.ValidLocale(locale) {
		locale = string(v.Page.Lang)
	}
	v.Language = v.field(intentLanguage, ui.Field{Name: fieldLocale, Value: locale}, textLanguage)
	for _, l := range ui.Langs {
		v.Languages = append(v.Languages, ui.Option{Value: string(l), Label: l.Name()})
	}
	v.Timezone = v.field(intentZone,
		ui.Field{Name: fieldZone, Value: v.Zone.String(), Hint: textZoneHint.In(v.Page.Lang)}, textZone)
	for _, name := range zone.Names {
		v.Timezones = append(v.Timezones, ui.Option{Value: name, Label: strings.ReplaceAll(name, "_", " ")})
	}
}

type settingsView struct {
	Page  ui.Page
	Token string
	// Message about what the last settings form changed; "" for nothing.
	Done       string
	Email      string
	Unverified bool
	CoverMails bool

	// Intent of the settings form that was sent with a mistake; "" for none.
	Intent string
	// The mistake in the sent settings form; nil for none.
	Mistake *ui.Mistake
	// The texts of the mistaken settings form, by field, without passwords.
	Sent map[string]string

	Password, Address []ui.Field
	Company, Contact  ui.Field
	Language          ui.Field
	Languages         []ui.Option
	Zone              *time.Location
	Timezone          ui.Field
	Timezones         []ui.Option
	Sessions          []sessionRow
	Others            bool // Whether the operator has other sessions than this one.

	Problem string // Why a settings form was refused; "" if none was.
	Codes   twofactor.State
}

// errorOf returns the error message of a settings field; "" for none. intent names its form.
func (v settingsView) errorOf(intent, field string) string {
	if v.Mistake != nil && v.Mistake.Field == intent+"-"+field {
		return v.Mistake.Text
	}
	return ""
}

type sessionRow struct {
	Name, Browser, Used, Since string
	This                       bool
}

func (v settingsView) passwordField(intent string) ui.Field {
	return ui.Field{
		Form: intent, Name: fieldCurrent, Type: "password", Label: textPasswordNow.In(v.Page.Lang),
		Autocomplete: "current-password", MaxLength: 200,
		Required: true, Error: v.errorOf(intent, fieldCurrent),
	}
}

// coverMails returns the checkbox for mails about ending covers.
func coverMails(lang ui.Lang, wanted bool) ui.Field {
	f := ui.Field{Name: fieldCoverMails, Label: textCoverMails.In(lang), Hint: textCoverHint.In(lang)}
	if wanted {
		f.Value = ui.CheckboxCheckedValue
	}
	return f
}

// verifyView is the data of the request to verify the operator's e-mail address.
type verifyView struct {
	Page  ui.Page
	Lead  string
	Token string
}
