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

// logInFirst redirects a browser without a session to the log-in page and back. Text typed while the session ended
// is kept and shown after the log-in.
func (p *pages) logInFirst(c *fiber.Ctx) error {
	page, query := pageOf(c)
	known, fields := p.Site.LastOperator(c), url.Values(nil)
	if known != (ui.RememberedOperator{}) {
		fields = p.unsent(c, known)
	}
	switch {
	// Restore a form about several deposits on the page that asks to confirm it.
	case fields.Has(fieldDeposit):
		page, query = site.FillPath(site.ConfirmBulkActionPath, p.severalForm(c)), ""
	// Restore the form to claim an amount on its own page.
	case fields.Get(fieldIntent) == intentCapture:
		page = site.FillPath(site.ClaimPath, c.Params("id"))
	}
	if len(fields) > 0 {
		if err := p.Site.KeepUnsentForm(c, known.OperatorID, ui.UnsentForm{Page: page, Fields: fields.Encode()}); err != nil {
			return err
		}
	}
	after := url.Values{}
	if next := ui.PathWithQuery(page, query); next != site.DashboardPath {
		after.Set(ui.AfterLogInQueryParam, next)
	}
	return c.Redirect(ui.PathWithQuery(site.LogInPath, after.Encode()), http.StatusSeeOther)
}

// pageOf returns the page to open with GET after the log-in, for a request to any dashboard path.
func pageOf(c *fiber.Ctx) (page, query string) {
	switch c.Route().Path {
	case site.ConfirmDepositPath:
		return site.FillPath(site.DepositPath, c.Params("id")), ""
	case site.RetryNewDepositPath:
		return site.NewDepositPath, ""
	case site.ConfirmBulkActionPath:
		return site.DepositsPath, ""
	case site.UnlinkPath:
		return site.PartnerPath, ""
	}
	if c.Method() == fiber.MethodPost {
		return c.Path(), ""
	}
	return c.Path(), ui.RawQuery(c)
}

// unsent returns the form fields of a request without a session: posted from this site, or of an opened form
// draft.
func (p *pages) unsent(c *fiber.Ctx, known ui.RememberedOperator) url.Values {
	if c.Method() != fiber.MethodPost {
		_, d, err := p.draft(c, known.AccountID)
		if err != nil || len(d.Outcome) > 0 {
			// Keep nothing of a draft whose page shows an empty form, or whose form had its effect.
			return nil
		}
		retype(c, d.Fields)
	} else if !p.Site.SameOrigin(c) {
		return nil
	} else if body := middleware.UploadBodyOf(c); body != nil {
		readFields(c, body)
	}
	fields := typed(c)
	// Waiting files belong to the ended session, so their ids are dropped.
	fields.Del(fieldWaiting)
	for name := range fields {
		if name != fieldIntent && fields.Get(name) != "" {
			return fields
		}
	}
	return nil
}

// readFields reads a form's fields up to its first file.
func readFields(c *fiber.Ctx, body *middleware.UploadBody) {
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

// restored loads the form sent to a page after the session had ended, as if its fields were in this request, and
// reports whether there is one.
func (p *pages) restored(c *fiber.Ctx, by caller, page string) bool {
	u := p.Site.UnsentForm(c, by.Operator.ID)
	if u.Page != page || u.Lost {
		return false
	}
	retype(c, u.Fields)
	return true
}
