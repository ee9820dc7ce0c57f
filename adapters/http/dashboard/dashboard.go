// Package dashboard serves the operator's pages (pages.md, "Paths and fields").
//
// A GET changes nothing. An act is a form with the hidden field intent; if it cannot be undone, the response is a
// page that describes the consequences and whose form adds confirm=yes.
//
// The files form layers: mount.go has the routes, then come the pages' handlers with their template data, views.go
// with the data of a deposit's page, dashboard.go with what handlers share, the texts, and fields.go.
package dashboard

import (
	"encoding/hex"
	"errors"
	"log/slog"
	"time"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/accounts/connections"
	"partnerdeposits/app/accounts/operators"
	"partnerdeposits/app/deposits"
	"partnerdeposits/app/deposits/desk"
	"partnerdeposits/app/payments/books"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/site"
	ports "partnerdeposits/ports/platform"
)

const (
	pathDashboard = site.DashboardPath
	pathDeposits  = site.DepositsPath
	pathExport    = site.DepositsExportPath
	pathNew       = site.NewDepositPath
	pathDeposit   = site.DepositPath
	pathFile      = site.DepositFilePath
	pathMoney     = site.MoneyPath
	pathPartner   = site.PartnerPath
	pathSettings  = site.SettingsPath
	pathUnlink    = site.UnlinkPath
)

type Deps struct {
	Connections *connections.Service
	Operators   *operators.Service
	Desk        *desk.Service
	Deposits    *deposits.Service
	Books       *books.Service
	Entropy     ports.Entropy
	Limiter     ports.Limiter
	Site        *ui.SiteCookies
	Log         *slog.Logger
	Uploads     *UploadLimits // Limits on forms with files; nil means the limits of production.
}

type pages struct {
	Deps
	exports *works
}

type caller = deposits.OperatorCaller

type handler func(c *fiber.Ctx, by caller) error

// signedIn wraps a handler: it counts the request against the account's rate limit, and redirects browsers without
// a session to the log-in page.
func (p *pages) signedIn(h handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		o, a, err := p.Operators.FindCurrentOperator(c.UserContext(), p.Site.SessionToken(c))
		if errors.Is(err, connect.ErrBadCredentials) {
			return p.logInFirst(c)
		}
		if err != nil {
			return err
		}
		if err := p.Site.RememberOperator(c, ui.RememberedOperator{OperatorID: o.ID, AccountID: a.ID}); err != nil {
			return err
		}
		if c.Method() == fiber.MethodPost {
			p.Site.DropUnsentForm(c)
		}
		middleware.AddSenderToAccessLog(c, slog.String("operator", id.Operator.Of(o.ID)), slog.String("account",
			id.Account.Of(a.ID)))
		by := caller{Operator: o, Account: a}
		p.frame(c, by)
		limit := operators.PageReadRateLimit
		if c.Method() == fiber.MethodPost {
			limit = operators.FormRateLimit
		}
		if err := p.limited(c, by, limit); err != nil {
			return err
		}
		return h(c, by)
	}
}

// RenderProblem renders the error page of a failed request (problem.Config). It looks up the operator for the
// menu, since no handler has read the session for an unknown path.
func (d Deps) RenderProblem(c *fiber.Ctx, failed problem.ErrorPage) error {
	unknown := failed.Code == fault.ErrRouteNotFound.Code || failed.Code == fault.ErrMethodNotAllowed.Code
	if unknown && site.IsDashboardPath(c.Path()) {
		o, a, err := d.Operators.FindCurrentOperator(c.UserContext(), d.Site.SessionToken(c))
		if err == nil {
			d.frame(c, caller{Operator: o, Account: a})
		} // Without a session, or without an answer of the database, the page has no menu.
	}
	return ui.RenderProblem(c, failed)
}

// frame sets the operator's language for the request and the menu for its error pages.
func (d Deps) frame(c *fiber.Ctx, by caller) {
	d.Site.PreferLang(c, by.Operator.Locale, "desk "+id.Operator.Of(by.Operator.ID))
	ui.SetErrorPageFrame(c, d.page(c, by, ui.SectionNone, ""))
}

func (d Deps) page(c *fiber.Ctx, by caller, section, title string) ui.Page {
	return ui.Page{
		Lang: ui.LangOf(c), Title: title, Query: ui.RawQuery(c), Wide: true, Section: section,
		Operator: by.Operator.Email, FormToken: d.Site.FormToken(c),
	}
}

func depositPath(depositID id.ID) string {
	return site.FillPath(site.DepositPath, id.Deposit.Of(depositID))
}

func claimPath(depositID id.ID) string {
	return site.FillPath(site.ClaimPath, id.Deposit.Of(depositID))
}

type row struct {
	Path, Reference, Contract, Tenant, Amount, Period string
	State                                             ui.Chip
	// The day on which the cover ends; "" except in the list of covers that end soon.
	Ends string
}

func rowOf(d desk.DepositRow, lang ui.Lang) row {
	return row{
		Path: depositPath(d.ID), Reference: d.Reference, Contract: d.RentalContract, Tenant: tenantOf(d.Deposit),
		Amount: amountOf(d.Deposit, lang), Period: periodOf(lang, d.ContractStartAt, d.ContractEndAt),
		State: stateOf(d.Deposit, d.Debt, lang),
	}
}

func tenantOf(d *deposit.Deposit) string {
	if d.Client == nil {
		return ""
	}
	return d.Client.FirstName + " " + d.Client.LastName
}

// periodOf formats the first and last day of a rental.
func periodOf(lang ui.Lang, from, to time.Time) string {
	return ui.FormatDateSpan(ui.FormatDate(lang, from), ui.FormatDate(lang, to))
}

// amountOf formats a deposit's amount; a captured part stands before it.
func amountOf(d *deposit.Deposit, lang ui.Lang) string {
	amount := ui.Euros(lang, d.Amount)
	if d.Status == deposit.Captured && d.CapturedAmount != d.Amount {
		return textCapturedOf.In(lang, ui.Euros(lang, d.CapturedAmount), amount)
	}
	return amount
}

// limited counts a request against the account's rate limit, or returns rate_limited.
func (p *pages) limited(c *fiber.Ctx, by caller, limit operators.DashboardRateLimit) error {
	decision := p.Limiter.Allow(c.UserContext(), limit.RuleFor(by.Account.ID))
	if !decision.Allowed {
		return fault.ErrRateLimited.WithRetryAfter(decision.RetryAfter)
	}
	return nil
}

// formID returns the key in a form's hidden field, which makes repeated requests with the form happen once; a new
// key for a form without one.
func (p *pages) formID(c *fiber.Ctx) (key [16]byte) {
	if raw, err := hex.DecodeString(ui.PostValue(c, fieldForm)); err == nil && len(raw) == len(key) {
		return [16]byte(raw)
	}
	return [16]byte(p.Entropy.NewID())
}

// newForm returns a random key that makes repeated requests with a form happen once.
func (p *pages) newForm() string { return hex.EncodeToString(p.Entropy.Bytes(16)) }

func mistakeOf(all []ui.Mistake, field string) string {
	for _, m := range all {
		if m.Field == field {
			return m.Text
		}
	}
	return ""
}
