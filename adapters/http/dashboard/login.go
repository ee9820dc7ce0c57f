package dashboard

import (
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/core/site"
)

// logInFirst leads a browser without a session to the log-in, and from there back to its page. What an operator typed
// whose session has ended comes back then.
func (p *pages) logInFirst(c *fiber.Ctx) error {
	page, query := pageOf(c)
	known, fields := p.Site.LastOperator(c), url.Values(nil)
	if known != (ui.Known{}) {
		fields = p.unsent(c, known)
	}
	switch {
	case fields.Has(fieldDeposit): // the boxes that were ticked come back as the question about them
		page, query = site.At(site.Several, p.severalForm(c)), ""
	case fields.Get(fieldIntent) == intentCapture: // its form is on a page of its own
		page = site.At(site.Claim, c.Params("id"))
	}
	if len(fields) > 0 {
		if err := p.Site.KeepUnsent(c, known.OperatorID, ui.Unsent{Page: page, Fields: fields.Encode()}); err != nil {
			return err
		}
	}
	after := url.Values{}
	if next := ui.WithQuery(page, query); next != site.Desk {
		after.Set(ui.QueryNext, next)
	}
	return c.Redirect(ui.WithQuery(site.LogIn, after.Encode()), http.StatusSeeOther)
}

// pageOf gives the page that a GET opens for the path of the request, with its query.
func pageOf(c *fiber.Ctx) (page, query string) {
	switch c.Route().Path {
	case site.Question:
		return site.At(site.Deposit, c.Params("id")), ""
	case site.NewAgain:
		return site.NewDeposit, ""
	case site.Several:
		return site.Deposits, ""
	case site.Unlink:
		return site.Partner, ""
	}
	if c.Method() == fiber.MethodPost {
		return c.Path(), ""
	}
	return c.Path(), ui.RawQuery(c)
}

// unsent gives the fields that a browser sent from this site without a session, and those of a kept form whose page it
// opened.
func (p *pages) unsent(c *fiber.Ctx, known ui.Known) url.Values {
	if c.Method() != fiber.MethodPost {
		_, d, err := p.draft(c, known.AccountID)
		if err != nil || len(d.Outcome) > 0 {
			return nil // the page leads to an empty form, or its form has had its effect
		}
		retype(c, d.Fields)
	} else if !p.Site.SameOrigin(c) {
		return nil
	} else if body := middleware.UploadOf(c); body != nil {
		readFields(c, body)
	}
	fields := typed(c)
	fields.Del(fieldWaiting) // files wait for the session that sent them
	for name := range fields {
		if name != fieldIntent && fields.Get(name) != "" {
			return fields
		}
	}
	return nil
}

// readFields reads the fields of a form with files, up to its files.
func readFields(c *fiber.Ctx, body *middleware.Upload) {
	_, parameters, err := mime.ParseMediaType(c.Get(fiber.HeaderContentType))
	if err != nil {
		return
	}
	u := &upload{takes: func(string) error { return nil }}
	for parts := multipart.NewReader(body, parameters["boundary"]); ; {
		part, err := parts.NextRawPart()
		if err != nil || part.FormName() == fieldFiles || u.readPart(c, part) != nil {
			return
		}
	}
}

// restored gives the form of a page that met an ended session, as the fields of the request.
func (p *pages) restored(c *fiber.Ctx, by caller, page string) bool {
	u := p.Site.Unsent(c, by.Operator.ID)
	if u.Page != page || u.Lost {
		return false
	}
	retype(c, u.Fields)
	return true
}
