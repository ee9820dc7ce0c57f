package dashboard_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/lab/connecttest"
	"partnerdeposits/lab/servicetest"
)

var may = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)

// paidClaim makes the deposit one whose claim was charged and paid at a time, a day after its capture.
func paidClaim(t *testing.T, s *connecttest.Server, reference, tenant string, amount money.Cents, at time.Time) id.ID {
	t.Helper()
	client, payment := servicetest.NewID(), servicetest.NewID()
	change(t, s, `INSERT INTO clients (id, account_id, email, first_name, last_name, phone, locale, created_at)
		SELECT $1, account_id, 'grace@example.com', $3, 'Hopper', '', 'en', now() FROM deposits WHERE reference = $2`,
		client, reference, tenant)
	captured(t, s, reference, amount)
	change(t, s, `UPDATE deposits SET client_id = $1 WHERE reference = $2`, client, reference)
	change(t, s, `INSERT INTO payments (id, deposit_id, kind, amount_cents, status, created_at, check_at)
		SELECT $1, id, 'collection', $3, 'processing', $4::timestamptz - interval '1 day', $4 FROM deposits
		WHERE reference = $2`, payment, reference, int64(amount), at)
	change(t, s, `UPDATE payments SET status = 'succeeded', settled_at = $2 WHERE id = $1`, payment, at)
	change(t, s, `UPDATE collections SET attempt = 1, attempted_at = ended_at - interval '1 hour' WHERE payment_id = $1`,
		payment)
	return payment
}

func refunded(t *testing.T, s *connecttest.Server, payment id.ID, amount money.Cents, at time.Time) {
	t.Helper()
	change(t, s, `INSERT INTO refunds (id, payment_id, deposit_id, amount_cents, reason, status, actor, created_at,
			check_at, settled_at)
		SELECT $2, id, deposit_id, $3, 'charged_wrong', 'succeeded', 'admin', $4, $4, $4 FROM payments WHERE id = $1`,
		payment, servicetest.NewID(), int64(amount), at)
}

func disputed(t *testing.T, s *connecttest.Server, payment id.ID, status string, at time.Time) {
	t.Helper()
	change(t, s, `INSERT INTO disputes (ref, payment_id, deposit_id, amount_cents, reason, status, created_at, changed_at)
		SELECT 'dp_' || id, id, deposit_id, amount_cents, 'fraudulent', $2, $3, $3 FROM payments WHERE id = $1`, payment,
		status, at)
}

// more adds deposits beside the first.
func (d *desk) more(n int) []string {
	d.t.Helper()
	change(d.t, d.Server, `UPDATE deposits SET reference = 'D-9999-9999', checkout_token_hash = sha256('another')
		WHERE reference = $1`, d.reference)
	return deposits(d.t, d.Server, d.partner, d.account, n)
}

// moneyOfMay gives four deposits money in May 2026 and around it.
func moneyOfMay(t *testing.T, s *connecttest.Server, made []string) {
	t.Helper()
	earlier := paidClaim(t, s, made[0], "Early", 20_000, may.Add(-time.Microsecond))
	first := paidClaim(t, s, made[1], "=Grace", 123_456, may)
	last := paidClaim(t, s, made[2], "Last", 10_001, may.AddDate(0, 1, 0).Add(-time.Microsecond))
	paidClaim(t, s, made[3], "Later", 55_555, may.AddDate(0, 1, 0))
	refunded(t, s, earlier, 5_005, may.AddDate(0, 0, 4))
	refunded(t, s, first, 3_456, may.AddDate(0, 0, 9))
	refunded(t, s, last, 1_000, may.AddDate(0, 1, 0))
	disputed(t, s, first, "lost", may.AddDate(0, 0, 20))
}

// monthOfMoney is a desk with money in May 2026, around it, and in another account.
func monthOfMoney(t *testing.T) *desk {
	t.Helper()
	d := newDesk(t)
	_, other := linked(t, d.Server, "c@d.example", "demo")
	theirs := deposits(t, d.Server, d.partner, other, 1)[0]
	paidClaim(t, d.Server, theirs, "Other", 99_999, may)
	moneyOfMay(t, d.Server, d.more(4))
	return d
}

// plain is the text of a part of a page, with single blanks.
func plain(part *html.Node) string {
	var texts []string
	for n := range part.Descendants() {
		if n.Type == html.TextNode {
			texts = append(texts, strings.Fields(n.Data)...)
		}
	}
	return strings.Join(texts, " ")
}

// lines gives the words of each row of a part of the page's tables.
func lines(page connecttest.Answer, part string) (all []string) {
	for _, n := range page.ElementsByTag(part) {
		for _, tr := range (connecttest.Answer{Root: n}).ElementsByTag("tr") {
			all = append(all, plain(tr))
		}
	}
	return all
}

func TestMoney_ShowsTheMonthAsTheBooksCountIt(t *testing.T) {
	d := monthOfMoney(t)
	page := d.b.Get("/dashboard/money?month=2026-05")
	require.Equal(t, http.StatusOK, page.Status)
	due, err := d.Postgres.Books.TotalsByAccount(t.Context(), may, may.AddDate(0, 1, 0))
	require.NoError(t, err)
	require.Len(t, due, 2)
	for _, a := range due {
		if a.AccountID == d.account {
			require.Equal(t, []money.Cents{133_457, 8_461, 124_996}, []money.Cents{a.Collected, a.Refunded,
				a.AmountOwedToOperator()})
		}
	}
	sums := plain(page.ElementsByTag("dl")[0])
	require.Equal(t, "Due to you €1,249.96 Paid less refunded Paid by tenants €1,334.57 Refunded to tenants €84.61 "+
		"Disputed by tenants €1,234.56 Not subtracted", sums)
	rows := lines(page, "tbody")
	require.Len(t, rows, 3, "neither of other months nor of other accounts")
	require.Contains(t, rows[0], "Last Hopper Claimed on 30 May 2026 Charged on 31 May 2026 Paid on 31 May 2026 €100.01 €10.00 refunded in all")
	require.Contains(t, rows[1], "=Grace Hopper Claimed on 30 Apr 2026 Charged on 30 Apr 2026 Paid on 1 May 2026 "+
		"€1,234.56 Refunded −€34.56 on 10 May 2026 Dispute lost €1,234.56")
	require.Contains(t, rows[2], "Early Hopper Claimed on 29 Apr 2026 Charged on 30 Apr 2026 Paid on 30 Apr 2026 "+
		"Refunded −€50.05 on 5 May 2026")
	require.Equal(t, "Whole month €1,334.57 Refunded −€84.61", lines(page, "tfoot")[0])
	require.Contains(t, page.Body, id.Account.Of(d.account))
	require.Contains(t, page.Body, "Months and days are in UTC, as in our books.")
	require.Contains(t, page.Body, "outside of this service")
	require.NotContains(t, page.Body, "not paid yet", "which is of the present month")
	require.NotEmpty(t, page.LinkURLByPrefix("/dashboard/deposits/dep_"))

	require.NotEmpty(t, page.LinkURLByPrefix("/dashboard/money?month=2026-04"))
	require.Contains(t, lines(d.b.Get("/dashboard/money?month=2026-04"), "tbody")[0],
		"Early Hopper Claimed on 29 Apr 2026 Charged on 30 Apr 2026 Paid on 30 Apr 2026 €200.00 €50.05 refunded in all")
}

func TestMoney_OfThePresentMonth_HasTheClaimsThatAreNotPaid(t *testing.T) {
	d := newDesk(t)
	refusedClaim(t, d.Server, d.reference)
	page := d.b.Get("/dashboard/money")
	require.Equal(t, http.StatusOK, page.Status)
	require.Equal(t, d.Clock.Now().UTC().Format("2006-01"), page.InputAttribute("month", "value"))
	require.Contains(t, page.Body, "No claim was paid, refunded or disputed in this month.")
	require.Contains(t, page.Body, "Claims: 1, €120.50 in all.")
	rows := lines(page, "tbody")
	require.Len(t, rows, 1)
	require.Contains(t, rows[0], d.reference+" Grace Hopper Claimed on")
	require.Contains(t, rows[0], "Card refused €120.50")
	next := d.Clock.Now().UTC().AddDate(0, 0, -d.Clock.Now().UTC().Day()+1).AddDate(0, 1, 0).Format("2006-01")
	require.Empty(t, page.LinkURLByPrefix("/dashboard/money?month="+next))
	require.NotContains(t, d.b.Get("/dashboard/money?month=2020-02").Body, "Claims: 1")
	require.Contains(t, d.b.Get("/dashboard/money?lang=fr").Body, "Réclamé, pas encore payé")
}

func TestMoney_AMonthThatCannotBeRead_IsRefusedAtItsField(t *testing.T) {
	d := newDesk(t)
	for _, path := range []string{"/dashboard/money", "/dashboard/money.csv"} {
		for _, bad := range []string{"x", "2026-13", "2026-1", "2026-05-01", "0001-01", "%00", "%ff", "20260-01"} {
			page := d.b.Get(path + "?month=" + bad)
			require.Equal(t, http.StatusBadRequest, page.Status, bad)
			require.Equal(t, "invalid_filter", page.ErrorCode())
			require.Equal(t, "true", page.InputAttribute("month", "aria-invalid"))
			require.Contains(t, page.Body, "Enter a month, such as 2026-11.")
			require.NotContains(t, page.Body, "Due to you")
		}
	}
	require.Equal(t, http.StatusOK, d.b.Get("/dashboard/money?month=9999-12").Status)
}

func TestMoney_OfManyClaims_IsReadPageByPageWithTheSumsOfAll(t *testing.T) {
	d := newDesk(t)
	for i, reference := range d.more(120) {
		paidClaim(t, d.Server, reference, "T"+strconv.Itoa(i), 10_000, may.Add(time.Duration(i/3)*time.Minute))
	}
	path, seen := "/dashboard/money?month=2026-05", map[string]bool{}
	for pages := 1; path != ""; pages++ {
		page := d.b.Get(path)
		require.Contains(t, page.Body, "€12,000.00")
		for _, reference := range references(page) {
			require.False(t, seen[reference], "%s on page %d", reference, pages)
			seen[reference] = true
		}
		require.LessOrEqual(t, len(references(page)), 100)
		require.LessOrEqual(t, pages, 2)
		path = page.LinkURLByPrefix("/dashboard/money?cursor=")
	}
	require.Len(t, seen, 120)
	require.Equal(t, 1+120, strings.Count(d.b.Get("/dashboard/money.csv?month=2026-05").Body, "\n"))
}

func TestMoneyExport_HasTheLinesOfTheMonthAndAddsUpToTheBooks(t *testing.T) {
	d := monthOfMoney(t)
	answer := d.b.Get("/dashboard/money.csv?month=2026-05")
	require.Equal(t, http.StatusOK, answer.Status)
	require.Equal(t, "text/csv; charset=utf-8", answer.Header.Get("Content-Type"))
	require.Equal(t, `attachment; filename="money-2026-05.csv"`, answer.Header.Get("Content-Disposition"))
	text, marked := strings.CutPrefix(answer.Body, "\ufeff")
	require.True(t, marked, "a spreadsheet takes the file for UTF-8")
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"reference", "tenant", "claimedAt", "chargedAt", "paidAt", "amount", "refunded",
		"refundedAt", "disputed", "dispute", "due"}, rows[0])
	require.Equal(t, [][]string{
		{"'=Grace Hopper", "2026-04-30T00:00:00.000Z", "2026-04-30T23:00:00.000Z", "2026-05-01T00:00:00.000Z", "1234.56",
			"34.56", "2026-05-10T00:00:00.000Z", "1234.56", "lost", "1200.00"},
		{"Early Hopper", "2026-04-29T23:59:59.999Z", "2026-04-30T22:59:59.999Z", "2026-04-30T23:59:59.999Z", "0.00",
			"50.05", "2026-05-05T00:00:00.000Z", "0.00", "", "-50.05"},
	}, [][]string{rows[2][1:], rows[3][1:]})
	require.Equal(t, []string{"100.01", "0.00", "", "0.00", "", "100.01"}, rows[1][5:])
	require.Len(t, rows, 4)

	require.Equal(t, 1, strings.Count(d.b.Get("/dashboard/money.csv?month=2020-01").Body, "\n"), "the columns alone")
	require.Contains(t, d.b.Get("/dashboard/money.csv").Header.Get("Content-Disposition"),
		d.Clock.Now().UTC().Format("2006-01"))
}

func TestNewDeposit_TellsTheFeeBeforeADepositIsMade(t *testing.T) {
	d := newDesk(t)
	text := func(page connecttest.Answer) string { return plain(page.Root) }
	require.Contains(t, text(d.b.Get("/dashboard/deposits/new")), "a fee of 3.5 % of the deposit, €5.00 at least")
	require.Contains(t, text(d.b.Get("/dashboard/deposits/new?lang=fr")), "des frais de 3,5 % de la caution, 5,00 € au minimum")
	require.Contains(t, text(d.b.Get("/dashboard/deposits/new?lang=en")), "3.5 %")
	again := d.b.FollowKeptForm(d.b.Submit("/dashboard/deposits/new",
		newFields(map[string]string{"amount": "700", "startsOn": "x"})))
	require.Contains(t, text(again), "For a deposit of €700.00 the tenant pays a fee of €24.50.")
	again = d.b.FollowKeptForm(d.b.Submit("/dashboard/deposits/new", newFields(map[string]string{"amount": "60"})))
	require.Contains(t, text(again), "3.5 %", "an amount that cannot be made has no fee")
	require.Contains(t, text(d.b.Get(d.path)), "The tenant pays €43.77")
}

// Printed, the page is a document of its own: no menu, no links to other months, black on white in every scheme.
func TestBrowser_MoneyPrinted_IsTheStatementAlone(t *testing.T) {
	d := newDeskBrowser(t, func(t *testing.T, s *connecttest.Server, reference string) {
		t.Helper()
		paidClaim(t, s, reference, "Grace", 123_456, may)
	})
	onPaper := chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print",
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
		return err
	})
	d.do(chromedp.Navigate(d.URL+"/dashboard/money?month=2026-05"), onPaper, chromedp.WaitVisible("table.statement"))
	hidden := `[...document.querySelectorAll(%q)].every(e => e.getClientRects().length === 0)`
	for _, part := range []string{"header", "nav", "footer", "button, .button", ".paging", "input"} {
		require.Equal(t, "true", ask(d.ctx, t, fmt.Sprintf("String("+hidden+")", part)), part)
	}
	text := ask(d.ctx, t, `document.querySelector("main").innerText`)
	for _, want := range []string{"May\u00a02026", "Chalets du Lac", "acct_", "€1,234.56", "Grace Hopper"} {
		require.Contains(t, text, want)
	}
	for _, part := range []string{"h1", ".figures strong", ".statement td.amount", ".statement a", ".fine"} {
		require.Equal(t, "rgb(0, 0, 0)", ask(d.ctx, t, `getComputedStyle(document.querySelector("`+part+`")).color`), part)
	}
	require.Equal(t, "rgb(255, 255, 255)", ask(d.ctx, t, `getComputedStyle(document.querySelector("main")).backgroundColor`))
	require.Equal(t, "table-header-group", ask(d.ctx, t, `getComputedStyle(document.querySelector("thead")).display`),
		"repeated on each sheet")
}
