package ui

import (
	"bytes"
	"net/http"
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
	SectionNone     = "none" // the menu marks no entry
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
	if err := page.Render(withFocus(c.UserContext()), &b); err != nil {
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

type frameKey struct{}

// SetFrame keeps the menu and the log-out form of page on the error pages of the request.
func SetFrame(c *fiber.Ctx, page Page) { c.Locals(frameKey{}, page) }

// errorPage is the layout of an error page, in the frame of the request.
func errorPage(c *fiber.Ctx, code, title string) Page {
	page, _ := c.Locals(frameKey{}).(Page)
	page.Lang, page.Title, page.ErrorCode, page.Query, page.ReadAt = LangOf(c), title, code, RawQuery(c), readAt(c)
	return page
}

// RenderProblem renders the page of an error; problem.Config takes it as RenderPage. The page shows the
// catalogue's texts for the error code.
func RenderProblem(c *fiber.Ctx, p problem.Page) error {
	SecureHeaders(c)
	f := FailureOf(p.Code)
	lang := LangOf(c)
	v := ErrorView{
		Page: errorPage(c, p.Code, f.Title.In(lang)), Message: f.Message.In(lang), RequestID: p.RequestID,
	}
	return Render(c, p.Status, problemPage(v, wayOn(c, v.Page, p.Status)))
}

// way is a link that leads on; the zero value is none.
type way struct{ path, words string }

// wayOn leads an operator to the first page, and others to the page that failed for now, or to the log-in. A tenant has
// the link of the checkout alone, and keeps the page.
func wayOn(c *fiber.Ctx, page Page, status int) way {
	path := c.Path()
	switch {
	case page.Operator != "":
		return way{site.Desk, TextToToday.In(page.Lang)}
	case strings.HasPrefix(path, site.Checkouts+"/"),
		strings.HasPrefix(path, strings.TrimSuffix(site.SandboxPayment, ":ref")):
		return way{}
	case status == http.StatusTooManyRequests || status >= http.StatusInternalServerError:
		if page.ReadAt != "" {
			return way{page.ReadAt, TextOpenAgain.In(page.Lang)}
		}
		return way{WithQuery(path, page.Query), TextOpenAgain.In(page.Lang)}
	}
	return way{site.LogIn, TextToLogIn.In(page.Lang)}
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
	v := ErrorView{
		Page: errorPage(c, ErrForm.Code, f.Title.In(lang)), Message: f.Message.In(lang), RequestID: problem.RequestID(c),
	}
	v.Page.ReadAt, v.Page.Query = path, query
	return Render(c, problem.Status(ErrForm.Kind), problemPage(v, way{reopen, TextOpenAgain.In(lang)}))
}
