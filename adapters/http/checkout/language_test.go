package checkout_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
)

func speaks(locale string) func(*deposit.Deposit) {
	return func(d *deposit.Deposit) { d.Locale = locale }
}

// The language comes from the first of: ?lang=, the deposit's locale, the cookie, Accept-Language (pages.md, "Forms and
// languages").
func TestCheckout_Language_IsThatOfTheDepositWhateverTheBrowserPrefers(t *testing.T) {
	w := setup(t)
	for _, c := range []struct{ locale, cookie, accepts, query, want string }{
		{"fr", "", "en-GB,en", "", "fr"},
		{"fr-CA", "en", "en", "", "fr"},
		{"en", "fr", "fr", "", "en"},
		{"fr", "fr", "fr", "?lang=en", "en"},
		{"de", "fr", "en", "", "fr"},
		{"de", "", "fr", "", "fr"},
		{"", "", "", "", "en"},
	} {
		_, token := w.CreateDeposit(t, speaks(c.locale))
		b := w.browser()
		b.lang = c.accepts
		if c.cookie != "" {
			b.get(w.base + "/checkout/nothing?lang=" + c.cookie)
		}
		require.Contains(t, b.get(w.address(token)+c.query).body, `<html lang="`+c.want+`"`, "%+v", c)
	}
}

func TestCheckout_LanguageChosenByTheReader_LastsForThisCheckout(t *testing.T) {
	w := setup(t)
	_, french := w.CreateDeposit(t, speaks("fr"))
	_, other := w.CreateDeposit(t, speaks("fr"))
	b := w.browser()
	english := b.get(w.address(french) + "?lang=en")
	require.Contains(t, english.body, "Pay €17.50")
	require.Contains(t, b.send(english, 0, url.Values{}).body, "Enter your first name.")
	pay := b.send(english, 0, grace)
	require.Contains(t, pay.body, "Pay by card", "the provider's page")
	require.Contains(t, b.send(pay, 1, nil).body, "You came back without paying",
		"the way back from the provider has no lang")
	require.Contains(t, b.get(w.address(other)).body, "Payer 17,50\u00a0€", "another deposit speaks its own language")
}

func TestCheckout_AnswersInTheLanguageOfTheDeposit(t *testing.T) {
	w := setup(t)
	_, token := w.CreateDeposit(t, speaks("fr"))
	b := w.browser()
	b.lang = "en"
	form := b.get(w.address(token))
	require.Contains(t, b.send(form, 0, url.Values{}).body, "Saisissez votre prénom.")
	pay := b.send(form, 0, grace)
	require.Contains(t, pay.body, "Payer par carte", "the provider is told the language")
	w.Provider.SetUnreachable(true)
	require.Contains(t, b.send(pay, 0, card(goodCard)).body, "Rien n’est perdu")
}

func TestCheckout_PagesThatAnswerAForm_OfferTheOtherLanguage(t *testing.T) {
	w := setup(t)
	_, token := w.CreateDeposit(t)
	b := w.browser()
	form := b.get(w.address(token))
	w.Provider.SetUnreachable(true)
	for name, answer := range map[string]page{
		"a mistake":      b.send(form, 0, url.Values{}),
		"provider away":  b.send(form, 0, grace),
		"form of others": b.do(http.MethodPost, w.address(token), url.Values{"intent": {"abandon"}}),
	} {
		link := lastMatch(answer.body, `<a lang="fr" hreflang="fr" href="([^"]+)"`)
		require.NotEmpty(t, link, name)
		target, err := answer.at.Parse(link)
		require.NoError(t, err)
		french := b.get(target.String())
		require.Equal(t, http.StatusOK, french.status, name)
		require.Contains(t, french.body, "Payer 17,50\u00a0€", name)
		b.get(w.address(token) + "?lang=en")
	}
}
