package ui

import (
	"bytes"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/problem"
)

// Page is what the layout needs to know.
type Page struct {
	Title     string // in the reader's language
	Lang      Lang
	ErrorCode string // data-error-code on the main element; "" on a page that tells of no error
	Query     string // raw query of the page, kept when the language is switched
	NoSwitch  bool   // the page cannot be opened again with GET, so no language is offered
	Wide      bool   // for tables; forms read better in a narrow column
	Operator  string // e-mail of who is signed in; "": nobody
	FormToken string // for the form to log out with
}

// Render writes a page. It is rendered in full before the first byte goes out, so that a failure becomes an error page.
func Render(c *fiber.Ctx, status int, page templ.Component) error {
	var b bytes.Buffer
	if err := page.Render(c.UserContext(), &b); err != nil {
		return err
	}
	c.Status(status)
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	return c.Send(b.Bytes())
}

// RenderProblem is the page renderer for problem.Config: the words of the catalogue for the code of the fault.
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

// RenderFormExpired answers ErrForm with a page that leads back to the form, a path of ours.
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
