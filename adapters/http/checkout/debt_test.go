package checkout_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/lab/browsertest"
	ports "partnerdeposits/ports/platform"
)

// tenantCard pays the fee, and every later charge wants the tenant back.
const tenantCard = "4000 0027 6000 3184"

// captured makes a deposit that Grace secured with a card, and captures it. The card has been charged if the clock says
// so.
func (w *world) captured(number string) (*deposit.Deposit, secret.Text, *browser) {
	w.t.Helper()
	d, token := w.CreateDeposit(w.t)
	b := w.browser()
	pay := b.send(b.get(w.address(token)), 0, grace)
	require.Contains(w.t, b.send(pay, 0, card(number)).location, "depositStatus=secured")
	w.CaptureDeposit(w.t, d.ID)
	return d, token, b
}

func (w *world) check(settled int) {
	w.t.Helper()
	n, err := w.Payments.CheckDuePayments(w.t.Context())
	require.NoError(w.t, err)
	require.Equal(w.t, settled, n)
}

func (w *world) debt(d *deposit.Deposit) deposit.Debt {
	w.t.Helper()
	debt, err := w.Payments.FindDebt(w.t.Context(), d.ID)
	require.NoError(w.t, err)
	return *debt
}

func TestDebt_CardIsCharged_ThePageSaysSoAndOffersNothing(t *testing.T) {
	w := setup(t)
	d, token, b := w.captured(goodCard)
	before := b.get(w.address(token))
	require.Contains(t, before.body, "The amount is charged to the card that you paid the fee with.")
	require.NotContains(t, before.body, "<form method=\"post\"")
	w.check(1)
	after := b.get(w.address(token))
	require.Contains(t, after.body, "The claimed amount is paid")
	require.Contains(t, after.body, "You have paid already.")
	require.NotContains(t, after.body, "<form method=\"post\"")
	require.Equal(t, deposit.CollectionPaid, w.debt(d).State)
}

func TestDebt_CardRefused_TheTenantPaysFromTheLink(t *testing.T) {
	w := setup(t)
	d, token, _ := w.captured(tenantCard)
	w.check(0)
	require.Equal(t, deposit.CollectionAwaitingTenant, w.debt(d).State)
	opened := w.Provider.OpenedPageCount()
	b := w.browser() // the link of the mail, in another browser
	page := b.get(w.address(token))
	require.Contains(t, page.body, "Please pay the claimed amount")
	require.Contains(t, page.body, "Pay €500.00")
	require.NotContains(t, page.header.Get("Content-Security-Policy"), "form-action", "the provider is another origin")
	require.Equal(t, opened, w.Provider.OpenedPageCount(), "a GET opens nothing")

	form := url.Values{"intent": {"pay"}}
	require.Equal(t, http.StatusForbidden, b.do(http.MethodPost, w.address(token), form).status,
		"without the form's token")
	first := b.send(page, 0, nil)
	require.Contains(t, first.body, "cardNumber")
	second := b.send(b.get(w.address(token)), 0, nil) // another tab
	require.Equal(t, first.at.String(), second.at.String(), "one debt has one page")

	back := b.send(first, 1, nil) // back without paying
	require.Contains(t, back.body, "You came back without paying.")
	require.Contains(t, back.body, "Pay €500.00")
	paid := b.send(b.send(back, 0, nil), 0, card(goodCard))
	require.Equal(t, "/checkout/"+token.Reveal(), paid.at.Path)
	require.Contains(t, paid.body, "The claimed amount is paid")
	require.Equal(t, deposit.CollectionPaid, w.debt(d).State)
	late := b.send(second, 0, card(goodCard)) // the other tab pays too
	require.Contains(t, late.body, "The claimed amount is paid")
	require.Len(t, w.PaymentsOf(t, d.ID, deposit.PaymentKindCollection), 1)
	require.Equal(t, 1, w.Count("sandbox_payments", "amount_cents = 50000 AND status = 'succeeded'"), "one charge")
}

func TestDebt_ReturnTokenAlone_ShowsNoForm(t *testing.T) {
	w := setup(t)
	d, token, _ := w.captured(tenantCard)
	w.check(0)
	stranger := w.browser().get(w.base + "/checkout/" + deposit.ReturnPageToken(d.ID, token).Reveal() + "/return")
	require.Equal(t, http.StatusOK, stranger.status)
	require.NotContains(t, stranger.body, "<form method=\"post\"")
	require.NotContains(t, stranger.body, token.Reveal())
}

func TestDebt_ProviderAway_SaysSoAndOpensLater(t *testing.T) {
	w := setup(t)
	_, token, _ := w.captured(tenantCard)
	w.check(0)
	b := w.browser()
	page := b.get(w.address(token))
	w.Provider.SetUnreachable(true)
	away := b.send(page, 0, nil)
	require.Equal(t, http.StatusServiceUnavailable, away.status)
	require.Contains(t, away.body, "We could not reach the payment service.")
	require.NotContains(t, away.body, "connection refused")
	w.Provider.SetUnreachable(false)
	require.Contains(t, b.send(page, 0, nil).body, "cardNumber")
}

func TestDebt_ThePageIsAskedForAgainAndAgain_IsLimited(t *testing.T) {
	w := setup(t)
	d, token, _ := w.captured(tenantCard)
	w.check(0)
	b := w.browser()
	page := b.get(w.address(token))
	require.Contains(t, b.send(page, 0, nil).body, "cardNumber")
	require.Contains(t, w.limiter.counted,
		ports.LimitRule{Name: "checkout-pay", Key: "checkout:pay:" + d.ID.String(), PerMinute: 5})
	opened := w.Provider.OpenedPageCount()
	w.limiter.refuses = "checkout-pay"
	require.Equal(t, http.StatusTooManyRequests, b.send(page, 0, nil).status)
	require.Equal(t, opened, w.Provider.OpenedPageCount())
	require.Equal(t, http.StatusOK, b.get(w.address(token)).status, "reading is free")
}

func TestDebt_TheOperatorEndsTheClaim_ThePageSaysThatNothingIsDue(t *testing.T) {
	for as, says := range map[deposit.CollectionTrigger][2]string{
		deposit.CollectionTriggerSettledElsewhere: {"told us that you paid in another way. There is nothing more to do.",
			"nous a indiqué que vous avez payé autrement."},
		deposit.CollectionTriggerWithdrawn: {"dropped the claim. There is nothing more to do.", "a renoncé à la réclamation."},
	} {
		t.Run(string(as), func(t *testing.T) {
			w := setup(t)
			d, token, _ := w.captured(tenantCard)
			w.check(0)
			b := w.browser()
			page := b.get(w.address(token))
			paying := b.send(page, 0, nil)
			require.Contains(t, paying.body, "cardNumber")
			w.Provider.SetUnreachable(true)
			require.NoError(t, w.Postgres.WithinTx(t.Context(), func(ctx context.Context) error {
				return w.Payments.RequestDebtEnd(ctx, d.ID, as, actor.Operator(id.ID{1}), w.Clock.Now())
			}))
			ending := b.get(w.address(token))
			require.Contains(t, ending.body, "The amount is not charged any more.")
			require.NotContains(t, ending.body, "<form method=\"post\"")
			w.Provider.SetUnreachable(false)
			debt, err := w.Payments.FinishDebtEnd(t.Context(), d.ID)
			require.NoError(t, err)
			require.Equal(t, []any{deposit.CollectionFailed, string(as)}, []any{debt.State, debt.Failure})
			for i, lang := range []string{"en", "fr"} {
				over := b.get(w.address(token) + "?lang=" + lang)
				require.Contains(t, over.body, []string{"Nothing is due any more", "Vous ne devez plus rien"}[i])
				require.Contains(t, over.body, says[i])
				require.NotContains(t, over.body, "<form method=\"post\"")
			}
			b.send(paying, 0, card(goodCard)) // the page of the provider is still open in another tab
			require.Zero(t, w.Count("sandbox_payments", "amount_cents = 50000 AND status = 'succeeded'"))
			require.Equal(t, deposit.CollectionFailed, w.debt(d).State)
		})
	}
}

func TestDebt_PayIntentOnAnotherDeposit_ShowsThePage(t *testing.T) {
	w := setup(t)
	_, token := w.CreateDeposit(t)
	b := w.browser()
	page := b.get(w.address(token))
	shown := b.send(page, 0, url.Values{"intent": {"pay"}})
	require.Equal(t, "/checkout/"+token.Reveal(), shown.at.Path)
	require.Zero(t, w.Provider.OpenedPageCount())
}

// The page tells what the mail about the claim tells, and nothing that only the operator sees.
func TestDebt_ThePage_NamesReasonWordsDatesAndWhomToAsk(t *testing.T) {
	w := setup(t, withImprint)
	d, token, b := w.captured(tenantCard)
	address := w.address(token)
	plain := func(lang string) string {
		return strings.ReplaceAll(b.get(address+"?lang="+lang).body, "\u00a0", " ")
	}
	for _, shown := range []string{`<p class="figure">€500.00</p>`, "claimed €500.00 of your deposit of €500.00.",
		`Reason</dt><dd class="words">Damage`, "In the words of Les Gîtes d’Ada", "Broken coffee table",
		"If the card is refused, we try again within some days", "If you do not agree",
		"Tell Les Gîtes d’Ada why, or write to <a", "</a> and name the reference " + d.Reference + ".",
		`href="mailto:support@deposits.example?subject=` + d.Reference + `"`, "object to the charge at your bank"} {
		require.Contains(t, plain("en"), shown)
	}
	w.check(0)
	require.Contains(t, plain("fr"), `Motif</dt><dd class="words">Dommage`)
	require.Contains(t, plain("fr"), `À payer ici jusqu’au</dt><dd class="words">12 décembre 2026`)
	require.NotContains(t, plain("fr"), "Si la carte est refusée")
	require.Contains(t, b.send(b.send(b.get(address), 0, nil), 0, card(goodCard)).body, "est payé")
	require.Contains(t, plain("en"), `Paid on</dt><dd class="words">15 June 2026`)
	require.NotContains(t, plain("en"), "What happens next")
}

func TestDebt_ScriptInTheOperatorsWords_IsEscaped(t *testing.T) {
	w := setup(t)
	d, token := w.CreateDeposit(t)
	b := w.browser()
	b.send(b.send(b.get(w.address(token)), 0, grace), 0, card(goodCard))
	w.claim(d.ID, "<img src=x>")
	raw := b.raw(w.address(token))
	require.Contains(t, raw, "&lt;img src=x&gt;")
	require.NotContains(t, raw, "<img")
	require.Contains(t, raw, "object to the charge at your bank", "without a support address too")
}

func TestDebt_InARealBrowser_IsPaidWithAnotherCard(t *testing.T) {
	w := setup(t, withImprint)
	d, token, _ := w.captured(tenantCard)
	w.check(0)
	browser := browsertest.New(t, browsertest.Viewports["phone"])
	require.NoError(t, chromedp.Do(browser, chromedp.Navigate(w.address(token)+"?lang=fr"),
		chromedp.WaitVisible(`//h1[contains(., "Veuillez payer le montant réclamé")]`)))
	browsertest.RequireUsablePage(browser, t, "debt")
	require.NoError(t, chromedp.Do(browser,
		chromedp.Click("button.main"),
		chromedp.WaitVisible("#cardNumber"),
		chromedp.SetValue("#cardNumber", goodCard), chromedp.SetValue("#cardExpiry", "12/34"),
		chromedp.SetValue("#cardCvc", "123"),
		chromedp.Click("button.main"),
		chromedp.WaitVisible(`//h1[contains(., "est payé")]`),
	))
	browsertest.RequireUsablePage(browser, t, "debt-paid")
	require.Equal(t, deposit.CollectionPaid, w.debt(d).State)
	require.NotContains(t, w.Log.String(), "grace@example.com", "no address in the log")
}

func TestContact_OfTheOperator_IsToldOnceTheFeeIsPaidAndWithAClaim(t *testing.T) {
	for contact, link := range map[string]string{
		"hello@chalets.example": "mailto:hello@chalets.example?subject=", "+33 (0)4 50.00": "tel:+3304500",
		"a?bcc=b@chalets.example": "mailto:a%3Fbcc=b@chalets.example?subject=",
	} {
		t.Run(contact, func(t *testing.T) {
			w := setup(t, withImprint)
			_, err := w.Pool.Exec(t.Context(), `UPDATE accounts SET contact = $1`, contact)
			require.NoError(t, err)
			d, token := w.CreateDeposit(t)
			b := w.browser()
			form := b.get(w.address(token) + "?lang=en")
			require.NotContains(t, form.body, contact, "a stranger with the link")
			pay := b.send(form, 0, grace)
			require.Contains(t, b.send(pay, 0, card(goodCard)).location, "depositStatus=secured")
			link := `(<a href="` + link
			if strings.HasPrefix(link, "(<a href=\"mailto") {
				link += d.Reference
			}
			paid := b.get(w.address(token)).body
			require.Contains(t, paid, link)
			require.Contains(t, paid, ">"+contact+"</a>) about your stay")
			require.Contains(t, paid, "mailto:support@deposits.example?subject="+d.Reference)
			w.CaptureDeposit(t, d.ID)
			require.Contains(t, b.get(w.address(token)).body, ">"+contact+"</a>) why")
		})
	}
}
