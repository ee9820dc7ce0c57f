package ui

import (
	"bytes"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/problem"
)

// Page is the data of the layout.
type Page struct {
	Title     string // in the reader's language
	Lang      Lang
	ErrorCode string // data-error-code on the main element; "" on a page without an error
	Query     string // raw query of the page; the language links keep it
	NoSwitch  bool   // no language links: the page cannot be opened again with GET
	Wide      bool   // wide column, for tables
	Operator  string // e-mail of the current operator; "": nobody is signed in
	FormToken string // CSRF token of the log-out form
}

// Render writes a page. The whole page is rendered before the first byte is sent, so a failure becomes an error page.
func Render(c *fiber.Ctx, status int, page templ.Component) error {
	var b bytes.Buffer
	if err := page.Render(c.UserContext(), &b); err != nil {
		return err
	}
	c.Status(status)
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	return c.Send(b.Bytes())
}

// RenderProblem is the RenderPage of problem.Config. The page shows the catalogue's texts for the error code.
func RenderProblem(c *fiber.Ctx, p problem.Page) error {
	SecureHeaders(c)
	f := FailureOf(p.Code)
	lang := LangOf(c)
	return Render(c, p.Status, ErrorPage(ErrorView{
		Page:      Page{Lang: lang, Title: f.Title.In(lang), ErrorCode: p.Code, Query: RawQuery(c), NoSwitch: c.Method() != fiber.MethodGet},
		Message:   f.Message.In(lang),
		RequestID: p.RequestID,
	}))
}

// RenderFormExpired answers ErrForm with a page that links back to the form at the path reopen.
func RenderFormExpired(c *fiber.Ctx, reopen string) error {
	SecureHeaders(c)
	f := FailureOf(ErrForm.Code)
	lang := LangOf(c)
	return Render(c, problem.Status(ErrForm.Kind), formExpired(ErrorView{
		Page:      Page{Lang: lang, Title: f.Title.In(lang), ErrorCode: ErrForm.Code, NoSwitch: true},
		Message:   f.Message.In(lang),
		RequestID: problem.RequestID(c),
	}, reopen))
}
