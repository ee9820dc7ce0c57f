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

type Page struct {
	Title string
	Lang  Lang
	// Error code shown as data-error-code; "" on a page without an error.
	ErrorCode string
	Query     string // The page's unparsed query, which the language links keep.
	// Path that the language links open; "" for the page's own, which must then have a GET route.
	ReadAt string
	Wide   bool // Whether the page's column of text is wide, as for tables.
	// Section of the operator's pages that the menu marks as current; "" for a page without the menu.
	Section   string
	Operator  string // E-mail address of the signed-in operator; "" for none.
	FormToken string
	// Whether the page has the script of the copy buttons.
	copies bool
}

// Sections of the operator's pages, each with an entry in the menu.
const (
	SectionToday    = "today"
	SectionDeposits = "deposits"
	SectionMoney    = "money"
	SectionPartner  = "partner"
	SectionSettings = "settings"
	// Section of pages on which the menu marks no entry as current.
	SectionNone = "none"
)

var deskEntries = []struct {
	section, path string
	name          LocalizedText
}{
	{SectionToday, site.DashboardPath, T("Today", "Aujourd’hui")},
	{SectionDeposits, site.DepositsPath, T("Deposits", "Cautions")},
	{SectionMoney, site.MoneyPath, T("Money", "Argent")},
	{SectionPartner, site.PartnerPath, T("Partner", "Partenaire")},
	{SectionSettings, site.SettingsPath, T("Settings", "Réglages")},
}

// current returns the HTML attribute of the current menu entry; nil for others.
func current(is bool) templ.Attributes {
	if !is {
		return nil
	}
	return templ.Attributes{"aria-current": "page"}
}

// Render writes a page as the response, wholly rendered before the first byte, so that a failure becomes an error
// page.
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

// SetLanguageLinkPath sets the path of an error page's language links, for a request whose own path has no GET
// route.
func SetLanguageLinkPath(c *fiber.Ctx, path string) { c.Locals(readAtKey{}, path) }

func readAt(c *fiber.Ctx) string {
	path, _ := c.Locals(readAtKey{}).(string)
	return path
}

type frameKey struct{}

// SetErrorPageFrame keeps a page's menu and log-out form for error pages of the same request.
func SetErrorPageFrame(c *fiber.Ctx, page Page) { c.Locals(frameKey{}, page) }

// errorPage returns an error page's layout, with the menu kept by SetErrorPageFrame.
func errorPage(c *fiber.Ctx, code, title string) Page {
	page, _ := c.Locals(frameKey{}).(Page)
	page.Lang, page.Title, page.ErrorCode, page.Query, page.ReadAt = LangOf(c), title, code, RawQuery(c), readAt(c)
	return page
}

// RenderProblem renders a failed request's error page (problem.Config), with the texts for its code.
func RenderProblem(c *fiber.Ctx, p problem.ErrorPage) error {
	SetSecurityHeaders(c)
	f := ErrorTextOf(p.Code)
	lang := LangOf(c)
	v := ErrorView{
		Page: errorPage(c, p.Code, f.Title.In(lang)), Message: f.Message.In(lang), RequestID: p.RequestID,
	}
	return Render(c, p.Status, problemPage(v, wayOn(c, v.Page, p.Status)))
}

// way is the link at the end of an error page; the zero value means none.
type way struct{ path, words string }

// wayOn returns the link at the end of an error page: for an operator the first page; for others the same page
// after a temporary failure, or the log-in; for a tenant none.
func wayOn(c *fiber.Ctx, page Page, status int) way {
	path := c.Path()
	switch {
	case page.Operator != "":
		return way{site.DashboardPath, TextGoToToday.In(page.Lang)}
	case strings.HasPrefix(path, site.CheckoutPathPrefix+"/"),
		strings.HasPrefix(path, strings.TrimSuffix(site.SandboxPaymentPath, ":ref")):
		return way{}
	case status == http.StatusTooManyRequests || status >= http.StatusInternalServerError:
		if page.ReadAt != "" {
			return way{page.ReadAt, TextOpenPageAgain.In(page.Lang)}
		}
		return way{PathWithQuery(path, page.Query), TextOpenPageAgain.In(page.Lang)}
	}
	return way{site.LogInPath, TextGoToLogIn.In(page.Lang)}
}

// RenderFormExpired answers an invalid CSRF token with a page that links back to the form at the path reopen.
func RenderFormExpired(c *fiber.Ctx, reopen string) error {
	SetSecurityHeaders(c)
	f := ErrorTextOf(ErrInvalidFormToken.Code)
	lang := LangOf(c)
	path, query, _ := strings.Cut(reopen, "?")
	if path == c.Path() {
		// An empty path makes the language links open this page again.
		path = ""
	}
	v := ErrorView{
		Page: errorPage(c, ErrInvalidFormToken.Code, f.Title.In(lang)), Message: f.Message.In(lang),
		RequestID: problem.RequestID(c),
	}
	v.Page.ReadAt, v.Page.Query = path, query
	return Render(c, problem.HTTPStatus(ErrInvalidFormToken.Kind), problemPage(v, way{reopen, TextOpenPageAgain.In(lang)}))
}
