// Package dashboard serves the operator's page: the account, the link to a partner with a form to unlink, the deposits.
package dashboard

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"net/http"
	"time"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/connections"
	"partnerdeposits/app/operators"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

const (
	pathDashboard = "/dashboard"
	pathUnlink    = "/dashboard/unlink"
	pathLogin     = "/login"
	fieldLink     = "link"
	pageSize      = 50
)

// Deps are the dependencies of the pages.
type Deps struct {
	Connections *connections.Service
	Operators   *operators.Service
	Deposits    ports.DepositReader
	Site        *ui.Site
}

type pages struct{ Deps }

// Mount adds the pages to app, which serves the dashboard's host.
func Mount(app fiber.Router, d Deps) {
	p := &pages{Deps: d}
	app.Get(pathDashboard, d.Site.Headers, p.signedIn(p.show))
	app.Post(pathUnlink, d.Site.Headers, p.signedIn(p.unlink))
}

// handler serves a signed-in operator.
type handler func(c *fiber.Ctx, o connect.Operator, a connect.Account) error

// signedIn calls h for a signed-in operator and redirects everybody else to the login page.
func (p *pages) signedIn(h handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		o, a, err := p.Operators.CurrentOperator(c.UserContext(), p.Site.SessionToken(c))
		if errors.Is(err, connect.ErrBadCredentials) {
			return c.Redirect(pathLogin, http.StatusSeeOther)
		}
		if err != nil {
			return err
		}
		return h(c, o, a)
	}
}

func (p *pages) show(c *fiber.Ctx, o connect.Operator, a connect.Account) error {
	account, err := p.Connections.Account(c.UserContext(), a.ID)
	if err != nil {
		return err
	}
	page := ports.Page{Limit: pageSize, Cursor: decodeCursor(c.Query("after"))}
	deposits, err := p.Deposits.Deposits(c.UserContext(), ports.DepositFilter{AccountID: a.ID}, page)
	if err != nil {
		return err
	}
	lang := ui.LangOf(c)
	token := p.Site.FormToken(c)
	v := view{
		Page:     ui.Page{Lang: lang, Title: textTitle.In(lang), Query: ui.RawQuery(c), Wide: true, Operator: o.Email, FormToken: token},
		Account:  account,
		Token:    token,
		Unlinked: c.Query("unlinked") != "" && account.Link == nil,
		First:    page.Cursor.IsZero(),
	}
	for _, d := range deposits.Items {
		v.Rows = append(v.Rows, rowOf(d, lang))
	}
	if !deposits.Next.IsZero() {
		v.Next = pathDashboard + "?after=" + encodeCursor(deposits.Next)
	}
	return ui.Render(c, http.StatusOK, dashboardPage(v))
}

// unlink ends the link that the page showed. If that link has ended already, unlink changes nothing.
func (p *pages) unlink(c *fiber.Ctx, o connect.Operator, a connect.Account) error {
	ui.SetReadAt(c, pathDashboard)
	if err := p.Site.CheckForm(c); err != nil {
		return ui.RenderFormExpired(c, pathDashboard)
	}
	linkID, ok := id.Link.Parse(ui.PostValue(c, fieldLink))
	if !ok {
		return c.Redirect(pathDashboard, http.StatusSeeOther)
	}
	if _, err := p.Connections.UnlinkByOperator(c.UserContext(), o, a, linkID); err != nil {
		return err
	}
	return c.Redirect(pathDashboard+"?unlinked=1", http.StatusSeeOther)
}

// row is a deposit in the list.
type row struct {
	Reference, Contract, Tenant, Amount, Period, Status string
	Tone                                                string // class of the status: good, bad or none
}

func rowOf(d *deposit.Deposit, lang ui.Lang) row {
	r := row{
		Reference: d.Reference,
		Contract:  d.RentalContract,
		Amount:    amountOf(d, lang),
		Period:    ui.Date(lang, d.ContractStartAt) + " – " + ui.Date(lang, d.ContractEndAt),
		Status:    statuses[d.Status].In(lang),
		Tone:      tones[d.Status],
	}
	if d.Client != nil {
		r.Tenant = d.Client.FirstName + " " + d.Client.LastName
	}
	return r
}

// amountOf formats the deposit's amount, and before it the captured part where a part was captured.
func amountOf(d *deposit.Deposit, lang ui.Lang) string {
	amount := ui.Euros(lang, d.Amount)
	if d.Status == deposit.Captured && d.CapturedAmount != d.Amount {
		return textCapturedOf.In(lang, ui.Euros(lang, d.CapturedAmount), amount)
	}
	return amount
}

// encodeCursor encodes the last deposit of a page: Unix microseconds and id.
func encodeCursor(c ports.Cursor) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(c.At.UnixMicro()))
	return base64.RawURLEncoding.EncodeToString(append(b, c.ID[:]...))
}

// decodeCursor returns the zero cursor, which is the first page, for an invalid text.
func decodeCursor(text string) ports.Cursor {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) != 8+len(id.ID{}) {
		return ports.Cursor{}
	}
	return ports.Cursor{At: time.UnixMicro(int64(binary.BigEndian.Uint64(b))).UTC(), ID: id.ID(b[8:])}
}
