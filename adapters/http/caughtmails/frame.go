package caughtmails

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/ui"
	ports "partnerdeposits/ports/platform"
)

// Shown is a mail as a page shows it. HTML is the path of the mail's HTML, empty for a mail of plain text only. Links
// are the links of its text that lead to pages of this service.
type Shown struct {
	Name, To, Subject, At, Body, Path string
	HTML                              string
	Links                             []string
}

// Show returns a mail as the page at path shows it. The mail's HTML is served one step below that path.
func Show(m ports.Mail, path string, lang ui.Lang) Shown {
	s := Shown{To: m.To, Subject: m.Subject, At: ui.DateTime(lang, m.CreatedAt), Body: m.Body, Path: path}
	if m.HTML != "" {
		s.HTML = path + "/html"
	}
	return s
}

// AllowFrames lets the page of a response frame pages of this site.
func AllowFrames(c *fiber.Ctx) *fiber.Ctx {
	policy := string(c.Response().Header.Peek(fiber.HeaderContentSecurityPolicy))
	c.Set(fiber.HeaderContentSecurityPolicy, policy+"; frame-src 'self'")
	return c
}

// mailPolicy is the Content-Security-Policy of a mail's HTML. It allows the inline styles that a mail needs, and
// nothing else: no script, no picture, no form. The sandbox gives the mail an origin of its own, without the cookies of
// this site.
const mailPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox " + frameRights

// frameRights lets a link of a framed mail open in the place of the page around it, and gives the mail no other right.
const frameRights = "allow-top-navigation-by-user-activation"

// SendHTML answers with the HTML of a mail, for a frame.
func SendHTML(c *fiber.Ctx, html string) error {
	c.Set(fiber.HeaderContentSecurityPolicy, mailPolicy)
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	return c.SendString(strings.ReplaceAll(html, "<a ", `<a target="_top" `))
}
