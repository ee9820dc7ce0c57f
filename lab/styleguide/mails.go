package styleguide

import (
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/caughtmails"
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/core/fault"
	"partnerdeposits/lab/mailbook"
)

// mailsView is the data of the page /styleguide/mails.
type mailsView struct {
	Page  ui.Page
	Mails []caughtmails.MailView
	Langs []langLink
}

type langLink struct {
	Label, Path string
	Current     bool
}

// specimens serves the page of all mails in the language of ?mail=: en, fr or both.
func (p *pages) specimens(c *fiber.Ctx) error {
	lang, locale := ui.LangOf(c), localeOf(c)
	v := mailsView{Page: ui.Page{Lang: lang, Title: textMails.In(lang), Query: ui.RawQuery(c), Wide: true}}
	for _, l := range mailbook.Locales {
		v.Langs = append(v.Langs,
			langLink{Label: localeNames[l].In(lang), Path: pathMails + "?mail=" + orBoth(l), Current: l == locale})
	}
	for i, s := range mailbook.SampleMails(locale, p.DashboardURL, p.Clock.Now()) {
		m := caughtmails.NewMailView(s.Mail, pathMails+"/"+orBoth(locale)+"/"+strconv.Itoa(i), lang)
		m.Name = s.Name
		v.Mails = append(v.Mails, m)
	}
	return ui.Render(caughtmails.AllowFrames(c), fiber.StatusOK, mailsPage(v))
}

// specimen serves the HTML of one mail with invented values.
func (p *pages) specimen(c *fiber.Ctx) error {
	locale := strings.Replace(c.Params("mail"), both, "", 1)
	all := mailbook.SampleMails(locale, p.DashboardURL, p.Clock.Now())
	if i, err := strconv.Atoi(c.Params("n")); err == nil && i >= 0 && i < len(all) && all[i].Mail.HTML != "" {
		return caughtmails.ServeMailHTML(c, all[i].Mail.HTML)
	}
	return fault.ErrRouteNotFound
}

// both is the part of a path for mails in both languages.
const both = "both"

func orBoth(locale string) string {
	if locale == "" {
		return both
	}
	return locale
}

// localeOf returns the language of mails in the query parameter mail, else that of the page.
func localeOf(c *fiber.Ctx) string {
	for _, l := range mailbook.Locales {
		if c.Query("mail") == orBoth(l) {
			return l
		}
	}
	return string(ui.LangOf(c))
}
