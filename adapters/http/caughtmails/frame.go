package caughtmails

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/ui"
	ports "partnerdeposits/ports/platform"
)

// MailView is a mail with the data that its page shows. HTML is the path of the mail's HTML, empty for a mail of
// plain text only. Links are the links of its text that lead to pages of this service.
type MailView struct {
	Name, To, Subject, At, Body, Path string
	HTML                              string
	Links                             []string
}

// NewMailView prepares a mail for the page at the given path. The mail's HTML is served at that path followed by /html.
func NewMailView(m ports.Mail, path string, lang ui.Lang) MailView {
	s := MailView{To: m.To, Subject: m.Subject, At: ui.FormatDateTime(lang, m.CreatedAt), Body: m.Body, Path: path}
	if m.HTML != "" {
		s.HTML = path + "/html"
	}
	return s
}

// AllowFrames changes the Content-Security-Policy of a response so that its page may show pages of this site in
// frames.
func AllowFrames(c *fiber.Ctx) *fiber.Ctx {
	policy := string(c.Response().Header.Peek(fiber.HeaderContentSecurityPolicy))
	c.Set(fiber.HeaderContentSecurityPolicy, policy+"; frame-src 'self'")
	return c
}

// mailPolicy is the Content-Security-Policy of a mail's HTML. It allows the inline styles that a mail needs, and
// nothing else: no script, no picture, no form. The sandbox gives the mail an origin of its own, without the cookies of
// this site.
const mailPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox " + frameRights

// frameRights holds the sandbox permissions of a mail that is shown in a frame: a link in the mail may open in the
// whole browser tab, and nothing else is allowed.
const frameRights = "allow-top-navigation-by-user-activation"

// ServeMailHTML answers with the HTML of a mail, for a frame.
func ServeMailHTML(c *fiber.Ctx, html string) error {
	c.Set(fiber.HeaderContentSecurityPolicy, mailPolicy)
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	return c.SendString(strings.ReplaceAll(html, "<a ", `<a target="_top" `))
}
