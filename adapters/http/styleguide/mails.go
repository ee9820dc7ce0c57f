package styleguide

import (
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/platform/mailbook"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

// newest is the number of caught mails that the sandbox lists.
const newest = 50

// shown is a mail on a page.
type shown struct {
	Name, ID, To, Subject, At, Body, Path string
	HTML                                  string // path of the HTML; "": plain text only
	Links                                 []string
}

// mailsView is the data of a page with mails.
type mailsView struct {
	Page  ui.Page
	Lead  string
	Mails []shown
	Langs []langLink
}

// langLink leads to the mails in a language.
type langLink struct {
	Label, Path string
	Current     bool
}

// specimens shows every mail of the service in the language of ?mail=: en, fr or both.
func (p *pages) specimens(c *fiber.Ctx) error {
	lang, locale := ui.LangOf(c), localeOf(c)
	v := mailsView{
		Page: ui.Page{Lang: lang, Title: textMails.In(lang), Query: ui.RawQuery(c), Wide: true},
		Lead: textMailsLead.In(lang),
	}
	for _, l := range mailbook.Locales {
		v.Langs = append(v.Langs,
			langLink{Label: localeNames[l].In(lang), Path: pathMails + "?mail=" + orBoth(l), Current: l == locale})
	}
	for i, s := range mailbook.Specimens(locale, p.DashboardURL, p.Clock.Now()) {
		v.Mails = append(v.Mails, p.shown(s.Name, s.Mail, pathMails+"/"+orBoth(locale)+"/"+strconv.Itoa(i), lang))
	}
	return ui.Render(framing(c), fiber.StatusOK, mailsPage(v))
}

// specimen serves the HTML of a specimen.
func (p *pages) specimen(c *fiber.Ctx) error {
	locale := strings.Replace(c.Params("mail"), both, "", 1)
	all := mailbook.Specimens(locale, p.DashboardURL, p.Clock.Now())
	if i, err := strconv.Atoi(c.Params("n")); err == nil && i >= 0 && i < len(all) && all[i].Mail.HTML != "" {
		return sendMail(c, all[i].Mail.HTML)
	}
	return fault.ErrRoute
}

// caught lists the mails that this service has not sent.
func (p *pages) caught(c *fiber.Ctx) error {
	list, err := p.Caught.NewestMails(c.UserContext(), newest)
	if err != nil {
		return err
	}
	lang := ui.LangOf(c)
	v := mailsView{Page: ui.Page{Lang: lang, Title: textCaught.In(lang), Query: ui.RawQuery(c), Wide: true},
		Lead: textCaughtLead.In(lang)}
	for _, m := range list {
		v.Mails = append(v.Mails, p.shown("", m, pathCaught+"/"+id.Message.Of(m.ID), lang))
	}
	return ui.Render(c, fiber.StatusOK, caughtPage(v))
}

// caughtMail shows a caught mail, caughtHTML its HTML.
func (p *pages) caughtMail(c *fiber.Ctx) error {
	m, err := p.find(c)
	if err != nil {
		return err
	}
	lang := ui.LangOf(c)
	v := mailsView{Page: ui.Page{Lang: lang, Title: m.Subject, Query: ui.RawQuery(c), Wide: true}}
	v.Mails = []shown{p.shown("", m, pathCaught+"/"+id.Message.Of(m.ID), lang)}
	return ui.Render(framing(c), fiber.StatusOK, caughtMailPage(v))
}

func (p *pages) caughtHTML(c *fiber.Ctx) error {
	m, err := p.find(c)
	if err != nil {
		return err
	}
	if m.HTML == "" {
		return fault.ErrRoute
	}
	return sendMail(c, m.HTML)
}

func (p *pages) find(c *fiber.Ctx) (ports.Mail, error) {
	list, err := p.Caught.NewestMails(c.UserContext(), newest)
	if err != nil {
		return ports.Mail{}, err
	}
	for _, m := range list {
		if id.Message.Of(m.ID) == c.Params("id") {
			return m, nil
		}
	}
	return ports.Mail{}, fault.ErrRoute
}

func (p *pages) shown(name string, m ports.Mail, path string, lang ui.Lang) shown {
	s := shown{Name: name, ID: id.Message.Of(m.ID), To: m.To, Subject: m.Subject, At: ui.DateTime(lang, m.CreatedAt),
		Body: m.Body, Path: path}
	if m.HTML != "" {
		s.HTML = path + "/html"
	}
	for line := range strings.SplitSeq(m.Body, "\n") {
		if strings.HasPrefix(line, p.DashboardURL+"/") {
			s.Links = append(s.Links, line)
		}
	}
	return s
}

// framing lets the page frame pages of this site.
func framing(c *fiber.Ctx) *fiber.Ctx {
	policy := string(c.Response().Header.Peek(fiber.HeaderContentSecurityPolicy))
	c.Set(fiber.HeaderContentSecurityPolicy, policy+"; frame-src 'self'")
	return c
}

// mailPolicy lets the HTML of a mail use its inline styles, which a mail needs, and nothing else: no script, no
// picture, no form. The sandbox gives the mail an origin of its own, without the cookies of this site. A link opens in
// the place of the page around the mail.
const mailPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox " + frameRights

// frameRights are the rights of a mail in a frame.
const frameRights = "allow-top-navigation-by-user-activation"

func sendMail(c *fiber.Ctx, html string) error {
	c.Set(fiber.HeaderContentSecurityPolicy, mailPolicy)
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	return c.SendString(strings.ReplaceAll(html, "<a ", `<a target="_top" `))
}

// both names the language of a reader whose language is not known.
const both = "both"

func orBoth(locale string) string {
	if locale == "" {
		return both
	}
	return locale
}

// localeOf is the language of ?mail=, or that of the page.
func localeOf(c *fiber.Ctx) string {
	for _, l := range mailbook.Locales {
		if c.Query("mail") == orBoth(l) {
			return l
		}
	}
	return string(ui.LangOf(c))
}
