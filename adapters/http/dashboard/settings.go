package dashboard

import (
	"net/http"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/twofactor"
)

// settingsView is the data of the settings.
type settingsView struct {
	Page       ui.Page
	Token      string
	Done       string // what the last form did; "": nothing
	Email      string
	Unverified bool
	CoverMails bool

	Intent  string            // of the form that was sent with a mistake; "": none
	Mistake *ui.Mistake       // of that form
	Sent    map[string]string // its texts, passwords left out

	Password, Address []ui.Field
	Company, Language ui.Field
	Languages         []ui.Option
	Sessions          []sessionRow
	Others            bool // there are sessions beside this one

	Problem string // why a form was refused
	Codes   twofactor.State
}

// errorOf is the mistake in a field of a form.
func (v settingsView) errorOf(intent, field string) string {
	if v.Mistake != nil && v.Mistake.Field == intent+"-"+field {
		return v.Mistake.Text
	}
	return ""
}

// sessionRow is a session in the list.
type sessionRow struct {
	Name, Browser, Used, Since string
	This                       bool
}

func (p *pages) showSettings(c *fiber.Ctx, by caller) error {
	done, known := settingsDone[c.Query(queryDone)]
	v := settingsView{}
	if known {
		v.Done = done.In(ui.LangOf(c))
	}
	return p.renderSettings(c, by, http.StatusOK, v)
}

func (p *pages) renderSettings(c *fiber.Ctx, by caller, status int, v settingsView) error {
	lang := ui.LangOf(c)
	page := p.page(c, by, ui.SectionSettings, textSettings.In(lang))
	var err error
	if v.CoverMails, err = p.Operators.WantsCoverMails(c.UserContext(), by.Operator); err != nil {
		return err
	}
	if v.Codes, err = p.Operators.TwoFactor(c.UserContext(), by.Operator.ID); err != nil {
		return err
	}
	page.Wide, page.ReadAt, page.ErrorCode = false, pathSettings, v.Page.ErrorCode
	v.Page, v.Token, v.Email, v.Unverified = page, page.FormToken, by.Operator.Email, p.Operators.Unverified(by.Operator)
	v.fields(by)
	sessions, err := p.Operators.Sessions(c.UserContext(), by.Operator.ID, p.Site.SessionToken(c))
	if err != nil {
		return err
	}
	for _, s := range sessions {
		name := s.Browser
		if name == "" {
			name = textSomeBrowser.In(lang)
		}
		v.Sessions = append(v.Sessions, sessionRow{
			Name: s.Name, Browser: name, This: s.This, Used: textLastUsed.In(lang, ui.DateTime(lang, s.LastSeenAt)), Since: textSince.In(lang, ui.DateTime(lang, s.CreatedAt)),
		})
		v.Others = v.Others || !s.This
	}
	return ui.Render(c, status, settingsPage(v))
}

// verifyView is the data of the request to verify the operator's address, on a page of its own or above another page.
type verifyView struct {
	Page  ui.Page
	Lead  string
	Token string
}

func (p *pages) verifyView(c *fiber.Ctx, by caller, lead string) verifyView {
	v := verifyView{Page: p.page(c, by, ui.SectionSettings, textVerifyFirst.In(ui.LangOf(c))), Lead: lead, Token: p.Site.FormToken(c)}
	v.Page.Wide, v.Page.ReadAt, v.Page.ErrorCode = false, pathSettings, connect.ErrUnverified.Code
	return v
}

// unverified refuses an act that charges or mails a tenant, and offers the mail that verifies the address.
func (p *pages) unverified(c *fiber.Ctx, by caller) error {
	return ui.Render(c, problem.Status(connect.ErrUnverified.Kind), unverifiedPage(p.verifyView(c, by, textVerifyFirstLead.In(ui.LangOf(c)))))
}
