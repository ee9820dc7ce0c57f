package dashboard

import (
	"bytes"
	"context"
	"encoding/csv"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/accounts/operators"
	"partnerdeposits/app/deposits/desk"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/money"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

// exportColumns are the columns of the export (pages.md, "The list and its export").
var exportColumns = []string{"reference", "status", "amount", "captured", "startsOn", "endsOn", "rentalContract",
	"tenant", "email", "createdAt", "claim", "paid", "paidAt"}

const (
	exportPage   = 100              // deposits that are read and held at once
	exportLimit  = 10 * time.Minute // for the whole export
	exportBuffer = 64 << 10         // bytes that the system keeps for the reader: they count as taken

	byteOrderMark = "\ufeff" // without it Excel reads the accents as those of Windows
)

// export streams the list as CSV. A page of the list is read when the browser has taken the page before, so an export
// of any length needs little memory. If a read fails, the connection ends without the end of the body: the browser
// reports an incomplete file.
func (p *pages) export(c *fiber.Ctx, by caller) error {
	f := filterOf(c, by, ui.LangOf(c))
	if len(f.mistakes) > 0 {
		return p.showList(c, by)
	}
	if err := p.limited(c, by, operators.DeskExports); err != nil {
		return err
	}
	end, err := p.exports.enter(by.Account.ID)
	if err != nil {
		return err
	}
	first, err := p.Desk.List(c.UserContext(), f.DeskFilter, ports.Page{Limit: exportPage})
	if err != nil {
		end()
		return err
	}
	// The request's context ends with the handler, before the body is read.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.UserContext()), exportLimit)
	log := p.Log.With("request_id", problem.RequestID(c))
	if sized, ok := c.Context().Conn().(interface{ SetWriteBuffer(int) error }); ok {
		_ = sized.SetWriteBuffer(exportBuffer)
	}
	c.Set(fiber.HeaderContentType, "text/csv; charset=utf-8")
	c.Set(fiber.HeaderContentDisposition, `attachment; filename="deposits.csv"`)
	c.Status(http.StatusOK).Context().SetBodyStream(&exporter{
		ctx: ctx, cancel: func() { cancel(); end() }, desk: p.Desk, filter: f.DeskFilter, next: first, more: true,
		conn: c.Context().Conn(),
		pace: newPace(), failed: func(err error) { log.WarnContext(ctx, "export ended early", "cause", err.Error()) },
	}, -1)
	return nil
}

// exporter is the body of an export.
type exporter struct {
	ctx    context.Context
	cancel context.CancelFunc
	desk   *desk.Service
	filter depositports.DeskFilter
	next   ports.List[desk.Row] // the page that was read and not written
	more   bool                 // next holds a page
	begun  bool
	conn   net.Conn
	failed func(error)
	buffer bytes.Buffer
	pace   pace
	given  int       // bytes of the last Read
	at     time.Time // of its end
}

// Read implements io.Reader.
func (e *exporter) Read(p []byte) (int, error) {
	if e.given > 0 {
		e.pace.passed(e.given, time.Since(e.at))
	}
	if e.buffer.Len() == 0 {
		if err := e.fill(); err != nil {
			e.cancel() // the place is free before the reader sees the end
			return 0, err
		}
	}
	n, err := e.buffer.Read(p)
	e.given, e.at = n, time.Now()
	_ = e.conn.SetWriteDeadline(e.at.Add(e.pace.left)) // the deadline of other answers is for their whole body
	return n, err
}

// Close implements io.Closer. The server closes the body at its end, and when the browser went away.
func (e *exporter) Close() error {
	e.cancel()
	return nil
}

// fill writes the next page of the list to the buffer.
func (e *exporter) fill() error {
	if !e.begun {
		e.begun = true
		e.buffer.WriteString(byteOrderMark)
		e.write(exportColumns)
	}
	for e.buffer.Len() == 0 || e.buffer.Len() < 4<<10 {
		if !e.more {
			if e.buffer.Len() > 0 {
				return nil
			}
			return io.EOF
		}
		for _, d := range e.next.Items {
			e.write(cellsOf(d))
		}
		e.more = !e.next.Next.IsZero()
		if !e.more {
			continue
		}
		var err error
		if e.next, err = e.desk.List(e.ctx, e.filter, ports.Page{Limit: exportPage, Cursor: e.next.Next}); err != nil {
			e.failed(err)
			return err
		}
	}
	return nil
}

func (e *exporter) write(cells []string) {
	w := csv.NewWriter(&e.buffer)
	_ = w.Write(cells) // to memory
	w.Flush()
}

// cellsOf are the cells of a deposit, in the order of exportColumns.
func cellsOf(d desk.Row) []string {
	tenant, email := "", ""
	if d.Client != nil {
		tenant, email = tenantOf(d.Deposit), d.Client.Email
	}
	claim, paid, paidAt := claimCells(d)
	return []string{
		d.Reference, string(d.Status), d.Amount.String(), d.CapturedAmount.String(),
		d.ContractStartAt.UTC().Format(time.DateOnly), d.ContractEndAt.UTC().Format(time.DateOnly),
		cell(d.RentalContract), cell(tenant), cell(email), deposit.Timestamp(d.CreatedAt),
		claim, paid, paidAt,
	}
}

// claimCells tell what has become of a captured amount: the state of its collection, and what the tenant has paid when.
// They are empty for a deposit that was not captured.
func claimCells(d desk.Row) (claim, paid, paidAt string) {
	switch {
	case d.Debt == nil:
		return "", "", ""
	case d.Debt.State == deposit.CollectionPaid:
		return string(d.Debt.State), d.CapturedAmount.String(), deposit.Timestamp(d.Debt.EndedAt)
	}
	return string(d.Debt.State), money.Cents(0).String(), ""
}

// A spreadsheet takes a cell for a formula that begins with one of these signs, which exist in full width too; blanks
// may stand before. A program that expects another separator, or no quotes, begins cells at other places of the line.
var (
	formulaStart = regexp.MustCompile(`^([\t\r]|[\s\x{feff}\x{00a0}]*[=+\-@\x{ff1d}\x{ff0b}\x{ff0d}\x{ff20}])`)
	formulaLater = regexp.MustCompile(`([;,|\t\r\n"][\s\x{feff}\x{00a0}]*)([=+\-@\x{ff1d}\x{ff0b}\x{ff0d}\x{ff20}])`)
)

// cell is a text of other people that no spreadsheet takes for a formula: an apostrophe stands before the sign then.
func cell(text string) string {
	text = formulaLater.ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), "$1'$2")
	if formulaStart.MatchString(text) {
		return "'" + text
	}
	return text
}
