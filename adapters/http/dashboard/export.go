package dashboard

import (
	"bytes"
	"context"
	"encoding/csv"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/accounts/operators"
	"partnerdeposits/app/deposits/desk"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	ports "partnerdeposits/ports/platform"
)

// exportColumns lists the columns of the CSV export of deposits (pages.md, "The list and its export").
var exportColumns = []string{"reference", "status", "amount", "captured", "startsOn", "endsOn", "rentalContract",
	"tenant", "email", "createdAt", "claim", "paid", "paidAt"}

const (
	// Number of deposits that an export holds in memory at once.
	exportPage  = 100
	exportLimit = 10 * time.Minute // Longest time that a whole export may take.

	// The byte order mark makes Excel read the file as UTF-8.
	byteOrderMark = "\ufeff"
)

func (p *pages) export(c *fiber.Ctx, by caller) error {
	f := filterOf(c, by, ui.LangOf(c))
	if len(f.mistakes) > 0 {
		return p.showList(c, by)
	}
	list := func(ctx context.Context, page ports.Page) (ports.ListPage[desk.DepositRow], error) {
		return p.Desk.ListDeposits(ctx, by.Account, f.DashboardFilter, page)
	}
	return p.stream(c, by, "deposits.csv", exportColumns, pageByPage(list, cellsOf))
}

// source is a function that returns the rows of an export's next page, and whether more follow.
type source func(ctx context.Context) (lines [][]string, more bool, err error)

func pageByPage[T any](read func(context.Context, ports.Page) (ports.ListPage[T], error),
	cells func(T) []string) source {
	page := ports.Page{Limit: exportPage}
	return func(ctx context.Context) (lines [][]string, more bool, err error) {
		found, err := read(ctx, page)
		for _, item := range found.Items {
			lines = append(lines, cells(item))
		}
		page.Cursor = found.Next
		return lines, !found.Next.IsZero(), err
	}
}

// stream answers with a CSV file. The first page is read before the response begins, so that its error becomes an
// error page.
func (p *pages) stream(c *fiber.Ctx, by caller, name string, columns []string, read source) error {
	if err := p.limited(c, by, operators.ExportRateLimit); err != nil {
		return err
	}
	held, err := p.exports.bytes.TryAcquire(by.Account.ID, exportCounts, exportCounts)
	if err != nil {
		return err
	}
	read = p.inTurn(by.Account.ID, read)
	first, more, err := read(c.UserContext())
	if err != nil {
		held.Release()
		return err
	}
	// The request's context ends before the body is sent, so the export has its own.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.UserContext()), exportLimit)
	log := p.Log.With("request_id", problem.RequestID(c))
	c.Set(fiber.HeaderContentType, "text/csv; charset=utf-8")
	c.Set(fiber.HeaderContentDisposition, `attachment; filename="`+name+`"`)
	c.Status(http.StatusOK)
	middleware.SendBodyWithMinRate(c, &exportBody{
		ctx: ctx, cancel: func() { cancel(); held.Release() }, columns: columns, read: read, lines: first, more: more,
		failed: func(err error) { log.WarnContext(ctx, "export ended early", "cause", err.Error()) },
	}, -1)
	return nil
}

// inTurn limits how many export pages are read at once; none counts while the browser receives it.
func (p *pages) inTurn(account id.ID, read source) source {
	return func(ctx context.Context) ([][]string, bool, error) {
		place, err := p.exports.enter(ctx, account, exportWait)
		if err != nil {
			return nil, false, err
		}
		defer place.Release()
		return read(ctx)
	}
}

// exportBody is the response body of an export. It reads a page when the browser has received the one before, so
// it needs little memory. A failed read closes the connection, so the browser reports an incomplete file.
type exportBody struct {
	ctx     context.Context
	cancel  context.CancelFunc
	columns []string // Names of the CSV columns; nil once they are written.
	read    source
	// Rows of the export that are read but not yet in the buffer.
	lines  [][]string
	more   bool // Whether another page of rows follows in the export.
	failed func(error)
	buffer bytes.Buffer
}

// Read returns the next bytes of the export, and reads from the database when the buffer is empty.
func (e *exportBody) Read(p []byte) (int, error) {
	if e.buffer.Len() == 0 {
		if err := e.fill(); err != nil {
			// Free what the export counts against the account's limit before the reader sees the end of the body.
			e.cancel()
			return 0, err
		}
	}
	return e.buffer.Read(p)
}

// Close ends the export, at the end of the body or when the browser has disconnected.
func (e *exportBody) Close() error {
	e.cancel()
	return nil
}

// fill writes the next page of the export to the buffer, or returns io.EOF after the last.
func (e *exportBody) fill() error {
	if e.columns != nil {
		e.buffer.WriteString(byteOrderMark)
		e.write(e.columns)
		e.columns = nil
	}
	for {
		for _, cells := range e.lines {
			e.write(cells)
		}
		e.lines = nil
		if e.buffer.Len() >= 4<<10 || !e.more {
			break
		}
		var err error
		if e.lines, e.more, err = e.read(e.ctx); err != nil {
			e.failed(err)
			return err
		}
	}
	if e.buffer.Len() == 0 {
		return io.EOF
	}
	return nil
}

func (e *exportBody) write(cells []string) {
	w := csv.NewWriter(&e.buffer)
	_ = w.Write(cells)
	w.Flush()
}

func cellsOf(d desk.DepositRow) []string {
	tenant, email := "", ""
	if d.Client != nil {
		tenant, email = tenantOf(d.Deposit), d.Client.Email
	}
	claim, paid, paidAt := claimCells(d)
	return []string{
		d.Reference, string(d.Status), d.Amount.String(), d.CapturedAmount.String(),
		d.ContractStartAt.Format(time.DateOnly), d.ContractEndAt.Format(time.DateOnly),
		cell(d.RentalContract), cell(tenant), cell(email), deposit.FormatTimestamp(d.CreatedAt), claim, paid, paidAt,
	}
}

// claimCells returns the cells about a captured amount: state of collection, payment and time; empty without a
// capture.
func claimCells(d desk.DepositRow) (claim, paid, paidAt string) {
	switch {
	case d.Debt == nil:
		return "", "", ""
	case d.Debt.State == deposit.CollectionPaid:
		return string(d.Debt.State), d.CapturedAmount.String(), deposit.FormatTimestamp(d.Debt.EndedAt)
	}
	return string(d.Debt.State), money.Cents(0).String(), ""
}

// formulaStart and formulaLater match the signs (such as = and +) with which a spreadsheet begins a formula.
// formulaLater is for programs that expect another separator or no quotes, and so begin cells elsewhere.
var (
	formulaStart = regexp.MustCompile(`^([\t\r]|[\s\x{feff}\x{00a0}]*[=+\-@\x{ff1d}\x{ff0b}\x{ff0d}\x{ff20}])`)
	formulaLater = regexp.MustCompile(`([;,|\t\r\n"][\s\x{feff}\x{00a0}]*)([=+\-@\x{ff1d}\x{ff0b}\x{ff0d}\x{ff20}])`)
)

// cell puts an apostrophe before the sign by which a spreadsheet would run a text as a formula.
func cell(text string) string {
	text = formulaLater.ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), "$1'$2")
	if formulaStart.MatchString(text) {
		return "'" + text
	}
	return text
}
