// Package styleguide serves every component of package ui at /styleguide, and every mail with invented values at
// /styleguide/mails, for `make run` and tests only.
package styleguide

import (
	_ "embed"
	"regexp"
	"strings"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/adapters/system"
	ports "partnerdeposits/ports/platform"
)

const (
	pathGuide = "/styleguide"
	pathStyle = pathGuide + "/guide.css"
	pathMails = pathGuide + "/mails"
)

type Deps struct {
	Clock        ports.Clock
	Site         *ui.SiteCookies
	DashboardURL string // The setting DASHBOARD_BASE_URL, without a final slash.
}

// MountFunc returns a function that adds the style guide to a service with this dashboard.
func MountFunc(dashboardURL string) func(fiber.Router, *ui.SiteCookies) {
	return func(app fiber.Router, site *ui.SiteCookies) {
		Mount(app, Deps{Clock: system.Clock{}, Site: site, DashboardURL: strings.TrimSuffix(dashboardURL, "/")})
	}
}

type pages struct{ Deps }

func Mount(app fiber.Router, d Deps) {
	p := &pages{d}
	app.Get(pathGuide, d.Site.PageMiddleware, p.guide)
	app.Get(pathStyle, serveStyle)
	app.Get(pathMails, d.Site.PageMiddleware, p.specimens)
	app.Get(pathMails+"/:mail/:n/html", d.Site.PageMiddleware, p.specimen)
}

//go:embed guide.css
var rules string

// schemes finds the light and the dark colours in the stylesheet of all pages.
var schemes = regexp.MustCompile(
	`(?s)^:root \{\n  color-scheme: light dark;\n(.*?)\}\n@media \(prefers-color-scheme: dark\) \{\n  :root \{\n(.*?)  \}\n\}`)

// style is the style guide's stylesheet: the classes light and dark force a colour scheme, whichever the reader
// prefers.
var style = func() string {
	found := schemes.FindStringSubmatch(ui.Stylesheet())
	if found == nil {
		panic("styleguide: the stylesheet does not begin with the colours of both schemes")
	}
	return ".light { color-scheme: light;\n" + found[1] + "}\n.dark { color-scheme: dark;\n" +
		strings.ReplaceAll(found[2], "    ", "  ") + "}\n" + rules
}()

func serveStyle(c *fiber.Ctx) error {
	c.Set(fiber.HeaderContentType, "text/css; charset=utf-8")
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	return c.SendString(style)
}

// chips lists status labels with every icon and every colour.
var chips = []ui.Chip{
	{Text: "Awaiting the tenant", Icon: "i-wait"},
	{Text: "Not finished", Icon: "i-half"},
	{Text: "Secured", Tone: "good", Icon: "i-shield"},
	{Text: "Cancelled", Icon: "i-cross"},
	{Text: "Payment refused", Tone: "bad", Icon: "i-alert"},
	{Text: "Ended", Icon: "i-end"},
	{Text: "Claimed", Icon: "i-claim"},
	{Text: "Paid", Tone: "good", Icon: "i-paid"},
	{Text: "Ends soon", Tone: "warn", Icon: "i-wait"},
}

type guideView struct {
	Page    ui.Page
	Amount  string
	Day     string
	Minute  string
	Longest string // The longest text of a period of days, with its months in full.
	QR      ui.QR
}

// guide serves the page of every component in every state, in light and dark.
func (p *pages) guide(c *fiber.Ctx) error {
	lang, now := ui.LangOf(c), p.Clock.Now()
	qr, err := ui.NewQR("invented")
	if err != nil {
		return err
	}
	page := ui.Page{Lang: lang, Title: textGuide.In(lang), Query: ui.RawQuery(c), Wide: true, Section: ui.SectionToday,
		Operator: "olivia@example.com"}
	page.AllowCopying(c)
	return ui.Render(c, fiber.StatusOK, guidePage(guideView{
		QR: qr, Page: page,
		Amount: ui.Euros(lang, 125_000), Day: ui.FormatDate(lang, now), Minute: ui.FormatDateTime(lang, now),
		Longest: ui.FormatDateSpan(ui.FormatLongDate(lang, now), ui.FormatLongDate(lang, now.AddDate(0, 0, 7))),
	}))
}
