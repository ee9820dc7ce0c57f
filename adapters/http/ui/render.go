package ui

import (
	"bytes"
	"strings"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/core/site"
)

// Page is the data of the layout.
type Page struct {
	Title     string // in the reader's language
	Lang      Lang
	ErrorCode string // data-error-code on the main element; "" on a page without an error
	Query     string // raw query of the page; the language links keep it
	ReadAt    string // path that the language links open; "": the path of the page itself, which GET opens too
	Wide      bool   // wide column, for tables
	Section   string // of the operator's pages, which the menu marks; "": a page without the menu
	Operator  string // e-mail of the current operator; "": nobody is signed in
	FormToken string // CSRF token of the log-out form
	copies    bool   // the script of the copy buttons is there: LetCopy
}

// The sections of the operator's pages.
const (
	SectionToday    = "today"
	SectionDeposits = "deposits"
	SectionMoney    = "money"
	SectionPartner  = "partner"
	SectionSettings = "settings"
)

// deskEntries are the entries of the menu of the operator's pages.
var deskEntries = []struct {
	section, path string
	name          Text
}{
	{SectionToday, site.Desk, T("Today", "Aujourd’hui")},
	{SectionDeposits, site.Deposits, T("Deposits", "Cautions")},
	{SectionMoney, site.Money, T("Money", "Argent")},
	{SectionPartner, site.Partner, T("Partner", "Partenaire")},
	{SectionSettings, site.Settings, T("Settings", "Réglages")},
}

// current marks the entry of the section that is shown.
func current(is bool) templ.Attributes {
	if !is {
		return nil
	}
	return templ.Attributes{"aria-current": "page"}
}

// Render writes a page. The whole page is rendered before the first byte is sent, so a failure becomes an error page.
func Render(c *fiber.Ctx, status int, page templ.Component) error {
	var b bytes.Buffer
	if err := page.Render(c.UserContext(), &b); err != nil {
		return err
	}
	c.Status(status)
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	return c.Send(b.Bytes())
}

type readAtKey struct{}

// SetReadAt names the page that the language links of an error page open, for a path that no GET opens.
func SetReadAt(c *fiber.Ctx, path string) { c.Locals(readAtKey{}, path) }

func readAt(c *fiber.Ctx) string {
	path, _ := c.Locals(readAtKey{}).(string)
	return path
}

// RenderProblem is the RenderPage of problem.Config. The page shows the catalogue's texts for the error code.
func RenderProblem(c *fiber.Ctx, p problem.Page) error {
	SecureHeaders(c)
	f := FailureOf(p.Code)
	lang := LangOf(c)
	return Render(c, p.Status, ErrorPage(ErrorView{
		Page:      Page{Lang: lang, Title: f.Title.In(lang), ErrorCode: p.Code, Query: RawQuery(c), ReadAt: readAt(c)},
		Message:   f.Message.In(lang),
		RequestID: p.RequestID,
	}))
}

// RenderFormExpired answers ErrForm with a page that links back to the form at the path reopen.
func RenderFormExpired(c *fiber.Ctx, reopen string) error {
	SecureHeaders(c)
	f := FailureOf(ErrForm.Code)
	lang := LangOf(c)
	path, query, _ := strings.Cut(reopen, "?")
	if path == c.Path() {
		path = "" // the links stay relative
	}
	return Render(c, problem.Status(ErrForm.Kind), formExpired(ErrorView{
		Page:      Page{Lang: lang, Title: f.Title.In(lang), ErrorCode: ErrForm.Code, ReadAt: path, Query: query},
		Message:   f.Message.In(lang),
		RequestID: problem.RequestID(c),
	}, reopen))
}
