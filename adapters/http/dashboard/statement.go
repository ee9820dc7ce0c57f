package dashboard

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/deposits/desk"
	"partnerdeposits/app/payments/books"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/site"
	paymentports "partnerdeposits/ports/payments"
	ports "partnerdeposits/ports/platform"
)

// statementColumns lists the columns of the CSV export of a month (pages.md, "Money").
var statementColumns = []string{"reference", "tenant", "claimedAt", "chargedAt", "paidAt", "amount", "refunded",
	"refundedAt", "disputed", "dispute", "due"}

const (
	// Number of claims on a page, so that most months are printed whole.
	statementPage = 100
	unpaidShown   = 50
	monthLayout   = "2006-01"
)

type statementView struct {
	Page             ui.Page
	Company, Account string
	Month            string
	Field            ui.Field
	Mistakes         []ui.Mistake
	// Paths of the neighbouring months and of the export; Later is "" for the present month.
	Earlier, Later, Export   string
	EarlierMonth, LaterMonth string
	// The month's sums due to the operator and refunded; RefundedSum has a minus sign.
	Due, RefundedSum string
	Figures          []fact // Further sums of the month, beside the amount due to the operator.
	Claims           []statementRow
	// Paths of the first and the next page of claims; "" if this is the first, or the last.
	First, Further string
	Unpaid         []unpaidRow
	// Sum of the unpaid claims, and path of their list; AllUnpaid is "" if all are shown.
	UnpaidSum, AllUnpaid string
}

type statementRow struct {
	Path, Reference, Tenant                string
	Claimed, Charged, Paid                 string
	Amount, Refunded, RefundedOn, Disputed string
	// The claim's amount refunded in all months; "" if all was in the month shown.
	InAll   string
	Dispute ui.Chip
}

type unpaidRow struct {
	row
	Claimed, Charged, Sum string
}

// monthOf parses the query parameter with the month. The zero time means the present month; false an invalid text.
func monthOf(text string) (time.Time, bool) {
	if text == "" {
		return time.Time{}, true
	}
	at, err := time.Parse(monthLayout, text)
	return at, err == nil && at.Year() > 1
}

func monthPath(path string, at time.Time) string {
	return ui.PathWithQuery(path, queryMonth+"="+at.Format(monthLayout))
}

func (p *pages) showMoney(c *fiber.Ctx, by caller) error {
	lang := ui.LangOf(c)
	v := statementView{
		Page:    p.page(c, by, ui.SectionMoney, textMoney.In(lang)),
		Company: by.Account.CompanyName, Account: id.Account.Of(by.Account.ID),
		Field: ui.Field{Name: queryMonth, Type: "month", Label: textMonth.In(lang), Value: c.Query(queryMonth)},
	}
	at, ok := monthOf(v.Field.Value)
	if !ok {
		v.Field.Error = textBadMonth.In(lang)
		v.Mistakes = []ui.Mistake{{Field: queryMonth, Text: v.Field.Error}}
		v.Page.ErrorCode = "invalid_filter"
		return ui.Render(c, http.StatusBadRequest, statementPageOf(v))
	}
	cursor := decodeCursor(c.Query(queryCursor))
	st, err := p.Books.MonthlyStatement(c.UserContext(), by.Account.ID, at, ports.Page{Limit: statementPage,
		Cursor: cursor})
	if err != nil {
		return err
	}
	if st.Present && cursor.IsZero() {
		unpaid, err := p.Desk.ListUnpaidDebts(c.UserContext(), by.Account, unpaidShown)
		if err != nil {
			return err
		}
		v.tellUnpaid(unpaid)
	}
	v.tell(st)
	if !cursor.IsZero() {
		v.First = monthPath(pathMoney, st.Month.From)
	}
	return ui.Render(c, http.StatusOK, statementPageOf(v))
}

func (v *statementView) tell(st books.Statement) {
	lang, month := v.Page.Lang, st.Month
	v.Month, v.Field.Value = ui.FormatMonthYear(lang, month.From), month.From.Format(monthLayout)
	earlier := month.From.AddDate(0, -1, 0)
	v.Earlier, v.EarlierMonth = monthPath(pathMoney, earlier), ui.FormatMonthYear(lang, earlier)
	if !st.Present {
		v.Later, v.LaterMonth = monthPath(pathMoney, month.To), ui.FormatMonthYear(lang, month.To)
	}
	v.Export = monthPath(site.MoneyExportPath, month.From)
	v.Due, v.RefundedSum = ui.Euros(lang, st.Due.AmountOwedToOperator()), ui.Euros(lang, -st.Due.Refunded)
	v.Figures = []fact{
		{textStatementPaid.In(lang), ui.Euros(lang, st.Due.Collected), ""},
		{textStatementRefunded.In(lang), ui.Euros(lang, st.Due.Refunded), ""},
		{textStatementDisputed.In(lang), ui.Euros(lang, st.Due.Disputed), textNotSubtracted.In(lang)},
	}
	for _, claim := range st.Debts.Items {
		v.Claims = append(v.Claims, statementRowOf(claim, lang))
	}
	if next := st.Debts.Next; !next.IsZero() {
		query := url.Values{queryMonth: {v.Field.Value}, queryCursor: {encodeCursor(next)}}
		v.Further = ui.PathWithQuery(pathMoney, query.Encode())
	}
}

func statementRowOf(claim paymentports.DebtMovement, lang ui.Lang) statementRow {
	day := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return ui.FormatDate(lang, t)
	}
	r := statementRow{
		Path: depositPath(claim.DepositID), Reference: claim.Reference, Tenant: claim.Tenant,
		Claimed: day(claim.CapturedAt), Charged: day(claim.ChargedAt), Paid: day(claim.PaidAt),
		RefundedOn: day(claim.RefundedAt),
	}
	if claim.Collected > 0 {
		r.Amount = ui.Euros(lang, claim.Collected)
	}
	if claim.Refunded > 0 {
		r.Refunded = ui.Euros(lang, -claim.Refunded)
	}
	if claim.RefundedInAll > claim.Refunded {
		r.InAll = textRefundedInAll.In(lang, ui.Euros(lang, claim.RefundedInAll))
	}
	if claim.Disputed > 0 {
		r.Disputed = ui.Euros(lang, claim.Disputed)
	}
	switch claim.Dispute {
	case "":
	case "won", "warning_closed":
		r.Dispute = ui.Chip{Text: textDisputeWon.In(lang), Tone: "good", Icon: "i-paid"}
	case "lost":
		r.Dispute = ui.Chip{Text: textDisputeLost.In(lang), Tone: "bad", Icon: "i-cross"}
	default:
		r.Dispute = ui.Chip{Text: textDisputeOpen.In(lang), Tone: "warn", Icon: "i-alert"}
	}
	return r
}

func (v *statementView) tellUnpaid(unpaid desk.UnpaidDebts) {
	lang := v.Page.Lang
	v.UnpaidSum = textUnpaidSum.In(lang, counted(unpaid.Count), ui.Euros(lang, unpaid.Count.Amount))
	for _, d := range unpaid.First {
		r := unpaidRow{row: rowOf(d, lang), Claimed: ui.FormatDate(lang, d.CapturedAt.UTC()),
			Sum: ui.Euros(lang, d.CapturedAmount)}
		if d.Debt != nil && !d.Debt.AttemptedAt.IsZero() {
			r.Charged = ui.FormatDate(lang, d.Debt.AttemptedAt.UTC())
		}
		v.Unpaid = append(v.Unpaid, r)
	}
	if unpaid.Count.More || unpaid.Count.Count > len(unpaid.First) {
		v.AllUnpaid = ui.PathWithQuery(pathDeposits, queryStatus+"="+string(deposit.Captured))
	}
}

func (p *pages) exportMoney(c *fiber.Ctx, by caller) error {
	at, ok := monthOf(c.Query(queryMonth))
	if !ok {
		return p.showMoney(c, by)
	}
	month := p.Books.MonthOf(at)
	claims := func(ctx context.Context, page ports.Page) (ports.ListPage[paymentports.DebtMovement], error) {
		return p.Books.ListDebtMovements(ctx, by.Account.ID, month, page)
	}
	return p.stream(c, by, "money-"+month.From.Format(monthLayout)+".csv", statementColumns,
		pageByPage(claims, statementCells))
}

func statementCells(claim paymentports.DebtMovement) []string {
	return []string{
		claim.Reference, cell(claim.Tenant), stamp(claim.CapturedAt), stamp(claim.ChargedAt), stamp(claim.PaidAt),
		claim.Collected.String(), claim.Refunded.String(), stamp(claim.RefundedAt), claim.Disputed.String(),
		cell(claim.Dispute), (claim.Collected - claim.Refunded).String(),
	}
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return deposit.FormatTimestamp(t)
}
