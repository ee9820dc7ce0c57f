// Package caughtmails serves the pages at /sandbox/mails: the mails that a service without a mail server has stored
// instead of sending them (pages.md, "Mails"). The pages exist in development only.
package caughtmails

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/site"
	ports "partnerdeposits/ports/platform"
)

// newest is the number of caught mails (stored instead of sent) that the page lists.
const newest = 50

type Deps struct {
	Mails ports.CaughtMailReader
	Site  *ui.SiteCookies
	// The base URL of the operators' pages, without a slash at its end: DASHBOARD_BASE_URL.
	DashboardURL string
}

type pages struct{ Deps }

// Mount registers the pages of caught mails. Never call it outside development: such mails contain links that open
// deposits and accounts.
func Mount(app fiber.Router, d Deps) {
	p := &pages{d}
	app.Get(site.CaughtMailsPath, d.Site.PageMiddleware, p.list)
	app.Get(site.CaughtMailPath, d.Site.PageMiddleware, p.mail)
	app.Get(site.CaughtMailHTMLPath, d.Site.PageMiddleware, p.html)
}

type view struct {
	Page  ui.Page
	Mails []MailView
}

func (p *pages) list(c *fiber.Ctx) error {
	list, err := p.Mails.NewestMails(c.UserContext(), newest)
	if err != nil {
		return err
	}
	lang := ui.LangOf(c)
	v := view{Page: ui.Page{Lang: lang, Title: textCaught.In(lang), Query: ui.RawQuery(c), Wide: true}}
	for _, m := range list {
		v.Mails = append(v.Mails, p.shown(m, lang))
	}
	return ui.Render(c, fiber.StatusOK, listPage(v))
}

// mail shows a caught mail: its HTML in a frame, its text, and its links.
func (p *pages) mail(c *fiber.Ctx) error {
	m, err := p.find(c)
	if err != nil {
		return err
	}
	lang := ui.LangOf(c)
	v := view{Page: ui.Page{Lang: lang, Title: m.Subject, Query: ui.RawQuery(c), Wide: true},
		Mails: []MailView{p.shown(m, lang)}}
	return ui.Render(AllowFrames(c), fiber.StatusOK, mailPage(v))
}

func (p *pages) html(c *fiber.Ctx) error {
	m, err := p.find(c)
	if err != nil {
		return err
	}
	if m.HTML == "" {
		return fault.ErrRouteNotFound
	}
	return ServeMailHTML(c, m.HTML)
}

func (p *pages) find(c *fiber.Ctx) (ports.Mail, error) {
	list, err := p.Mails.NewestMails(c.UserContext(), newest)
	if err != nil {
		return ports.Mail{}, err
	}
	for _, m := range list {
		if id.Mail.Of(m.ID) == c.Params("id") {
			return m, nil
		}
	}
	return ports.Mail{}, fault.ErrRouteNotFound
}

func (p *pages) shown(m ports.Mail, lang ui.Lang) MailView {
	s := NewMailView(m, site.CaughtMailsPath+"/"+id.Mail.Of(m.ID), lang)
	for line := range strings.SplitSeq(m.Body, "\n") {
		if strings.HasPrefix(line, p.DashboardURL+"/") {
			s.Links = append(s.Links, line)
		}
	}
	return s
}
