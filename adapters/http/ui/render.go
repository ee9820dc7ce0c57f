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

// Page is the data of the layout that every page for people has.
type Page struct {
	Title string // The page's title in the reader's language.
	Lang  Lang
	// Error code shown as data-error-code on the main element; "" on a page without an error.
	ErrorCode string
	Query     string // The unparsed query of the page's URL, which the links to the other language keep.
	// Path that the language links open; "" for the path of the page itself, which must then have a GET route.
	ReadAt string
	Wide   bool // True if the page's column of text is wide, as for tables; false if it is narrow.
	// Section of the operator's pages that the menu marks as current; "" for a page without the menu.
	Section   string
	Operator  string // E-mail address of the signed-in operator; "" if nobody is signed in.
	FormToken string // CSRF token of the log-out form.
	// True if the page has the script of the copy buttons, which AllowCopying adds; false otherwise.
	copies bool
}

// The sections of the operator's pages, each of which has an entry in the menu.
const (
	SectionToday    = "today"
	SectionDeposits = "deposits"
	SectionMoney    = "money"
	SectionPartner  = "partner"
	SectionSettings = "settings"
	// Value of the page's section for operator's pages on which the menu marks no entry as current.
	SectionNone = "none"
)

// deskEntries lists the entries of the menu of the operator's pages, with their paths and names.
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

// current returns the HTML attribute that marks the menu entry of the section to which the page belongs; nil for
// any other entry.
func current(is bool) templ.Attributes {
	if !is {
		return nil
	}
	return templ.Attributes{"aria-current": "page"}
}

// Render writes a page as the response. The whole page is rendered before the first byte is sent, so that a
// failure becomes an error page.
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

// SetLanguageLinkPath sets the path that the language links of an error page open, for a request whose own path has no
// GET route.
func SetLanguageLinkPath(c *fiber.Ctx, path string) { c.Locals(readAtKey{}, path) }

func readAt(c *fiber.Ctx) string {
	path, _ := c.Locals(readAtKey{}).(string)
	return path
}

type frameKey struct{}

// SetErrorPageFrame stores the menu and the log-out form of a page for error pages of the same request.
func SetErrorPageFrame(c *fiber.Ctx, page Page) { c.Locals(frameKey{}, page) }

// errorPage returns the layout data of an error page, with the menu that SetErrorPageFrame has kept.
func errorPage(c *fiber.Ctx, code, title string) Page {
	page, _ := c.Locals(frameKey{}).(Page)
	page.Lang, page.Title, page.ErrorCode, page.Query, page.ReadAt = LangOf(c), title, code, RawQuery(c), readAt(c)
	return page
}

// RenderProblem renders the error page of a failed request, with the catalogue's texts for its error code. It is
// the function RenderPage of problem.Config.
func RenderProblem(c *fiber.Ctx, p problem.ErrorPage) error {
	SetSecurityHeaders(c)
	f := ErrorTextOf(p.Code)
	lang := LangOf(c)
	v := ErrorView{
		Page: errorPage(c, p.Code, f.Title.In(lang)), Message: f.Message.In(lang), RequestID: p.RequestID,
	}
	return Render(c, p.Status, problemPage(v, wayOn(c, v.Page, p.Status)))
}

// way is a link at the end of an error page to a page that works; the zero value means no link.
type way struct{ path, words string }

// wayOn returns the link at the end of an error page. An operator gets the first page of the dashboard. Others get
// the same page after a temporary failure, or else the log-in. A tenant gets no link, having only the checkout
// page.
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

// RenderFormExpired answers a form with an invalid CSRF token: a page that links back to the form at the path
// reopen.
func RenderFormExpired(c *fiber.Ctx, reopen string) error {
	SetSecurityHeaders(c)
	f := ErrorTextOf(ErrInvalidFormToken.Code)
	lang := LangOf(c)
	path, query, _ := strings.Cut(reopen, "?")
	if path == c.Path() {
		// An empty path makes the language links relative, so that they open the path of this page again.
		path = ""
	}
	v := ErrorView{
		Page: errorPage(c, ErrInvalidFormToken.Code, f.Title.In(lang)), Message: f.Message.In(lang),
		RequestID: problem.RequestID(c),
	}
	v.Page.ReadAt, v.Page.Query = path, query
	return Render(c, problem.HTTPStatus(ErrInvalidFormToken.Kind), problemPage(v, way{reopen, TextOpenPageAgain.In(lang)}))
}
