package caughtmails

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/ui"
	ports "partnerdeposits/ports/platform"
)

// MailView is a mail with the data that its page shows. HTML is the path of the mail's HTML, "" for plain text.
type MailView struct {
	Name, To, Subject, At, Body, Path string
	HTML                              string
	Links                             []string
}

// NewMailView prepares a mail for the page at path; the mail's HTML is served at path followed by /html.
func NewMailView(m ports.Mail, path string, lang ui.Lang) MailView {
	s := MailView{To: m.To, Subject: m.Subject, At: ui.FormatDateTime(lang, m.CreatedAt), Body: m.Body, Path: path}
	if m.HTML != "" {
		s.HTML = path + "/html"
	}
	return s
}

// AllowFrames lets the page of a response show pages of this site in frames (Content-Security-Policy).
func AllowFrames(c *fiber.Ctx) *fiber.Ctx {
	policy := string(c.Response().Header.Peek(fiber.HeaderContentSecurityPolicy))
	c.Set(fiber.HeaderContentSecurityPolicy, policy+"; frame-src 'self'")
	return c
}

// mailPolicy is the Content-Security-Policy of a mail's HTML: inline styles and nothing else. The sandbox gives
// the mail an origin of its own, without this site's cookies.
const mailPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox " + frameRights

// frameRights lets links of a mail in a frame open in the whole browser tab, and nothing else.
const frameRights = "allow-top-navigation-by-user-activation"

func ServeMailHTML(c *fiber.Ctx, html string) error {
	c.Set(fiber.HeaderContentSecurityPolicy, mailPolicy)
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	return c.SendString(strings.ReplaceAll(html, "<a ", `<a target="_top" `))
}
