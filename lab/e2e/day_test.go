package e2e_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/money"
	"partnerdeposits/lab/browsertest"
)

// Cards of the sandbox provider.
const (
	cardGood         = "4242424242424242"
	cardRefused      = "4000000000000002"
	cardRefusedLater = "4000002760003184" // pays the fee, and refuses every charge without the tenant
)

// desk is an operator's browser, which counts the clicks of a task beside typing.
type desk struct {
	context.Context
	t      testing.TB
	base   string
	clicks int
}

func (d *desk) do(steps ...chromedp.Action[chromedp.Void]) {
	d.t.Helper()
	require.NoError(d.t, chromedp.Do(d.Context, steps...))
}

// click presses what the selector finds, and waits for an element of the page that follows.
func (d *desk) click(selector, follows string) {
	d.t.Helper()
	d.clicks++
	d.do(chromedp.WaitVisible(selector), chromedp.Click(selector), chromedp.WaitVisible(follows))
}

// today opens the first page, from which a task is counted.
func (d *desk) today() {
	d.t.Helper()
	d.do(chromedp.Navigate(d.base+"/dashboard"), chromedp.WaitVisible("#find"))
	d.clicks = 0
}

// tookAtMost compares the clicks since the first page.
func (d *desk) tookAtMost(most int, task string) {
	d.t.Helper()
	d.t.Logf("%s: %d clicks", task, d.clicks)
	require.LessOrEqual(d.t, d.clicks, most, task)
}

// payFee is a tenant who secures a deposit with a card.
func payFee(tenant context.Context, t testing.TB, checkout, card string) {
	t.Helper()
	require.NoError(t, chromedp.Do(tenant,
		chromedp.Navigate(checkout), chromedp.WaitVisible("#agree"), chromedp.SetValue("#firstName", "Inés"),
		chromedp.SetValue("#lastName", "García López"), chromedp.SetValue("#email", "ines@example.com"),
		chromedp.Click("#agree"), chromedp.Click("button.main")))
	payAtProvider(tenant, t, card)
}

// payAtProvider types a card on the provider's page.
func payAtProvider(tenant context.Context, t testing.TB, card string) {
	t.Helper()
	require.NoError(t, chromedp.Do(tenant, chromedp.WaitVisible("#cardNumber"), chromedp.SetValue("#cardNumber", card),
		chromedp.SetValue("#cardExpiry", "12/34"), chromedp.SetValue("#cardCvc", "123"), chromedp.Click("button.main"),
		chromedp.WaitNotPresent("#cardNumber")))
}

// TestDay_OfAnOperator goes through a day at the desk on the built processes: a refused fee is sent again and paid, a
// departure is claimed with two photos, a refused claim is reminded and paid, and the statement of the month is what
// the books say is due.
func TestDay_OfAnOperator(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "COLLECTION_RETRY_SCHEDULE=0s")
	w.http(t)
	w.dispatcher(t)
	d := &desk{Context: browsertest.New(t), t: t, base: w.baseURL}
	tenant := browsertest.New(t)
	d.do(browsertest.Viewports["desktop"], chromedp.Navigate(w.connectURL(t, "villa-80")),
		chromedp.SetValue("#email", "day@example.com"), chromedp.SetValue("#password", "correct horse battery"),
		chromedp.SetValue("#companyName", "Chalets du Lac"), chromedp.Click("button.main"), chromedp.WaitVisible("nav.desk"))

	// The fee of the first tenant is refused. The link is sent again, and the tenant pays.
	first := d.newDeposit("ines@example.com")
	payFee(tenant, t, first, cardRefused)
	d.today()
	d.click(`form:has(input[value="send_link"]) button`, ".notice")
	d.tookAtMost(1, "a link sent again")
	payFee(tenant, t, first, cardGood)
	second := d.newDeposit("lea@example.com")
	payFee(tenant, t, second, cardRefusedLater)

	payFee(tenant, t, d.newDeposit("noa@example.com"), cardRefused)

	// The departures: one claim is refused by the card, and one with two photos is charged.
	d.claim("lopez", "50.10")
	d.claim("garcia lopez", "80.25", photoOfDamage(t), photoOfDamage(t))
	account := w.accountsLinked(t, "villa-80")[0].AccountID
	books := w.database(t)
	claims := func(paid, awaited int) func() bool {
		return func() bool {
			var p, a int
			err := books.QueryRow(t.Context(), `SELECT count(*) FILTER (WHERE state = 'paid'),
				count(*) FILTER (WHERE state = 'awaiting_tenant') FROM collections`).Scan(&p, &a)
			return err == nil && p == paid && a == awaited
		}
	}
	require.Eventually(t, claims(1, 1), soon, often, "one claim is paid, the other awaits its tenant")
	require.Equal(t, 8_025, w.due(t, account))

	// A day later the tenant is reminded, and pays.
	_, err := books.Exec(t.Context(), `UPDATE collections SET asked_at = asked_at - interval '25 hours'`)
	require.NoError(t, err)
	d.remindAll()
	require.NoError(t, chromedp.Do(tenant, chromedp.Navigate(second), chromedp.Click("button.main")))
	payAtProvider(tenant, t, cardGood)
	require.Eventually(t, claims(2, 0), soon, often)
	require.Equal(t, 13_035, w.due(t, account))

	d.do(chromedp.Navigate(w.baseURL+"/dashboard/money"), chromedp.WaitVisible("#claims"))
	require.Contains(t, shown(d, t), "€130.35")
	lines, err := csv.NewReader(strings.NewReader(d.download("/dashboard/money.csv"))).ReadAll()
	require.NoError(t, err)
	sum := money.Cents(0)
	for _, line := range lines[1:] {
		cents, err := strconv.ParseInt(strings.Replace(line[len(line)-1], ".", "", 1), 10, 64)
		require.NoError(t, err)
		sum += money.Cents(cents)
	}
	require.Equal(t, "due", lines[0][len(lines[0])-1])
	require.EqualValues(t, 13_035, sum)
}

// newDeposit makes a deposit whose stay ends today, and gives its checkout URL.
func (d *desk) newDeposit(email string) (checkout string) {
	d.t.Helper()
	d.today()
	d.click(`main a[href="/dashboard/deposits/new"]`, "#amount")
	day := time.Now().UTC()
	d.do(chromedp.SendKeys("#amount", "700"), chromedp.SetValue("#startsOn", day.AddDate(0, 0, -7).Format(time.DateOnly)),
		chromedp.SetValue("#endsOn", day.AddDate(0, 0, 1).Format(time.DateOnly)), chromedp.SetValue("#email", email))
	d.click("button.main", "#copy-link")
	d.tookAtMost(2, "a new deposit with its mail")
	checkout, err := chromedp.Run(d.Context, chromedp.Value("#copy-link"))
	require.NoError(d.t, err)
	return checkout
}

// claim finds a tenant by name, and claims from the newest deposit that is secured.
func (d *desk) claim(name, amount string, photos ...string) {
	d.t.Helper()
	d.today()
	d.do(chromedp.SendKeys("#find", name+kb.Enter), chromedp.WaitVisible("table.deposits"))
	d.click("table.deposits a.act", "#capture-amount")
	d.do(chromedp.SetValue("#capture-amount", amount), chromedp.SetUploadFiles("#capture-files", photos))
	d.click("#capture button", "button.danger")
	d.click("button.danger", ".notice")
	d.tookAtMost(3, "a claim")
	require.Contains(d.t, shown(d, d.t), "You claimed €"+amount)
}

// remindAll mails the tenants of all refused deposits.
func (d *desk) remindAll() {
	d.t.Helper()
	d.today()
	d.click(`form:has(input[value="remind_all"]) button`, "#mailed")
	d.click("button.main", "main:not(:has(button.main)) #mailed")
	d.tookAtMost(3, "all refused reminded")
}

// due is the amount that our books owe an account, in cents. The test fails where our books and the provider's differ,
// as they do while a charge is under way.
func (w *deployment) due(t testing.TB, accountID string) int {
	t.Helper()
	from, to := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339), time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	code, stdout, stderr := run(t, w.environ, "admin", "payments", "reconcile", "--from", from, "--to", to, "--json")
	require.Zero(t, code, stderr)
	var books struct {
		Due []struct {
			AccountID string
			DueCents  int
		}
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &books), stdout)
	for _, due := range books.Due {
		if due.AccountID == accountID {
			return due.DueCents
		}
	}
	return 0
}

// download reads a file of the desk with the cookies of the browser.
func (d *desk) download(path string) string {
	d.t.Helper()
	cookies, err := chromedp.Run(d.Context, func(ctx context.Context, t *chromedp.Target) ([]*network.Cookie, error) {
		r, err := cdp.Call(ctx, t, network.GetCookies, network.GetCookiesParams{})
		if err != nil {
			return nil, err
		}
		return r.Cookies, nil
	})
	require.NoError(d.t, err)
	request, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, d.base+path, nil)
	require.NoError(d.t, err)
	for _, c := range cookies {
		request.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value})
	}
	answer, err := http.DefaultClient.Do(request)
	require.NoError(d.t, err)
	defer func() { _ = answer.Body.Close() }()
	require.Equal(d.t, http.StatusOK, answer.StatusCode)
	text, err := io.ReadAll(answer.Body)
	require.NoError(d.t, err)
	return string(text)
}
