package checkout_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/agreement"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/zone"
)

var (
	shownSentence = regexp.MustCompile(`(?s)<input type="checkbox" value="yes"[^>]* name="agree"[^>]*><span>(.*?)</span>`)
	shownWords    = regexp.MustCompile(`(?s)<details( open)?><summary>[^<]+</summary><p>(.*?)</p></details>`)
	tags          = regexp.MustCompile(`<[^>]*>`)
)

func TestCheckout_WordsThatUnfold_AreThoseThatAreKept(t *testing.T) {
	w := setup(t, withImprint)
	d, token := w.CreateDeposit(t)
	b := w.browser()
	for _, lang := range []string{"fr", "en"} {
		form := b.get(w.address(token) + "?lang=" + lang)
		shown, sentence := shownWords.FindStringSubmatch(form.body), shownSentence.FindStringSubmatch(form.body)
		require.NotNil(t, shown, form.body)
		require.NotNil(t, sentence, form.body)
		require.Contains(t, b.send(form, 0, grace).body, "cardNumber")
		kept, err := w.Postgres.Agreements.Agreements(t.Context(), d.ID)
		require.NoError(t, err)
		last := kept[len(kept)-1]
		for _, link := range []string{"https://deposits.example/terms", "https://deposits.example/privacy",
			"mailto:support@deposits.example"} {
			require.Contains(t, shown[2], `<a href="`+link+`"`)
		}
		require.Equal(t, tags.ReplaceAllString(shown[2], ""), last.Words)
		require.True(t, strings.HasPrefix(last.Words, sentence[1]+" "), "the sentence beside the checkbox is part of the evidence")
		require.Equal(t, agreement.Version, last.Version)
		require.Equal(t, lang, last.Locale)
		require.Equal(t, "127.0.0.1", last.Origin.Address)
		require.Contains(t, last.Origin.UserAgent, "Go-http-client")
	}
}

// The tenant reads the days that the operator meant, and agrees to them.
func TestCheckout_DaysAreThoseOfTheAccountsZone(t *testing.T) {
	w := setup(t, withImprint)
	d, token := w.CreateDeposit(t)
	_, err := w.Pool.Exec(t.Context(), `UPDATE accounts SET timezone = 'Pacific/Kiritimati'`) // the day after
	require.NoError(t, err)
	b := w.browser()
	form := b.get(w.address(token) + "?lang=en")
	require.Contains(t, form.body, "17\u00a0June\u00a02026 – 24\u00a0June\u00a02026")
	until := w.LoadDeposit(t, d.ID).ContractEndAt.Add(14 * 24 * time.Hour).In(zone.ByName("Pacific/Kiritimati"))
	require.Contains(t, b.send(form, 0, grace).body, "cardNumber")
	kept, err := w.Postgres.Agreements.Agreements(t.Context(), d.ID)
	require.NoError(t, err)
	require.Contains(t, kept[0].Words, until.Format("2\u00a0January\u00a02006"))
	require.NotEqual(t, until.UTC().Day(), until.Day())
}

func TestCheckout_AgreementInTheQuery_AgreesToNothing(t *testing.T) {
	w := setup(t)
	d, token := w.CreateDeposit(t)
	b := w.browser()
	form := b.get(w.address(token) + "?agree=yes")
	require.NotContains(t, form.body, " checked")
	got := b.send(form, 0, url.Values{"firstName": {"Grace"}, "lastName": {"Hopper"}, "email": {"grace@example.com"}})
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Equal(t, []string{"agree"}, errorsIn(got.body))
	require.Contains(t, got.body, `data-error-code="agreement_missing"`)
	require.Contains(t, got.body, `value="grace@example.com"`, "nothing has to be typed again")
	w.requireStatus(d, deposit.Pending, "")
}

// The cover of a long stay ends 60 days after the payment, so the words of tomorrow name another day.
func TestCheckout_WordsChangedSinceThePage_AreShownAgain(t *testing.T) {
	w := setup(t)
	_, token := w.CreateDeposit(t, func(d *deposit.Deposit) { d.ContractEndAt = d.ContractEndAt.AddDate(0, 3, 0) })
	b := w.browser()
	form := b.get(w.address(token))
	require.Contains(t, strings.ReplaceAll(form.body, "\u00a0", " "), "until 14 August 2026, if you pay today")
	require.Contains(t, strings.ReplaceAll(form.body, "\u00a0", " "), "for claims until 60 days after I pay.")
	require.NotContains(t, form.body, "<details open>")
	require.Contains(t, form.body, "The cover ends before your stay does")
	w.Clock.Add(24 * time.Hour)
	again := b.send(form, 0, grace)
	require.Equal(t, http.StatusUnprocessableEntity, again.status)
	require.Equal(t, []string{"agree"}, errorsIn(again.body))
	require.Contains(t, again.body, `data-error-code="agreement_changed"`)
	require.Contains(t, again.body, "has changed")
	require.NotContains(t, again.body, " checked")
	require.Contains(t, again.body, "<details open>", "what is to be read again is there")
	require.Contains(t, b.send(again, 0, grace).body, "cardNumber")
}

func TestCheckout_StayThatIsOver_ShowsNoForm(t *testing.T) {
	w := setup(t)
	_, token := w.CreateDeposit(t, func(d *deposit.Deposit) {
		d.ContractStartAt, d.ContractEndAt = w.Clock.Now().Add(-48*time.Hour), w.Clock.Now()
	})
	b := w.browser()
	got := b.get(w.address(token))
	require.Equal(t, http.StatusOK, got.status)
	require.Contains(t, got.body, "Your stay is over")
	require.NotContains(t, got.body, "<form method")
	require.Contains(t, b.get(w.address(token)+"?lang=fr").body, "Votre séjour est terminé")
}

func TestCheckout_AfterPaying_TellsWhatHappenedUntilWhenAndWhomToAsk(t *testing.T) {
	w := setup(t, withImprint)
	d, token := w.CreateDeposit(t, func(d *deposit.Deposit) { d.ReturnURL, d.URLGeneration = "", false })
	b := w.browser()
	pay := b.send(b.get(w.address(token)), 0, grace)
	require.Contains(t, pay.body, "Fee for the deposit of Les Gîtes d’Ada, 16 Jun – 23 Jun 2026")
	require.NotContains(t, pay.body, d.Reference)
	paid := strings.ReplaceAll(b.send(pay, 0, card(goodCard)).body, "\u00a0", " ")
	for _, shown := range []string{"Your deposit is secured", "Fee paid</dt><dd>€17.50, on 15 June 2026",
		"is covered for €500.00 until 7 July 2026", "nothing is blocked on your card", "Covered until</dt><dd>7 July 2026",
		"You get a receipt by e-mail", "Ask Les Gîtes d’Ada about your stay and about claims. For this payment, write to <a",
		`href="mailto:support@deposits.example?subject=` + d.Reference + `"`} {
		require.Contains(t, paid, shown)
	}
	_, err := w.Pool.Exec(t.Context(), `UPDATE deposits SET status = 'close', closed_at = now() WHERE id = $1`, d.ID)
	require.NoError(t, err)
	require.NotContains(t, b.get(w.address(token)).body, "Covered until")
}
