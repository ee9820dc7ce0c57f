package checkout_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/browsertest"
	"partnerdeposits/lab/rarely"
)

// A real browser holds every redirect after a form against the page's policy, and the return URL is at another origin,
// which may redirect once more.
func TestCheckout_InARealBrowser_ReachesTheReturnURLAtAnotherOrigin(t *testing.T) {
	w := setup(t)
	arrived := make(chan string, 1)
	last := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		_, _ = rw.Write([]byte("arrived"))
		select {
		case arrived <- r.URL.RawQuery + " from " + r.Referer():
		default: // the favicon
		}
	}))
	t.Cleanup(last.Close)
	partnerSite := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, last.URL+"/end?"+r.URL.RawQuery, http.StatusFound)
	}))
	t.Cleanup(partnerSite.Close)
	d, token := w.CreateDeposit(t, func(d *deposit.Deposit) { d.ReturnURL = partnerSite.URL + "/back" })

	browser := browsertest.New(t)
	require.NoError(t, chromedp.Do(browser,
		chromedp.Navigate(w.address(token)),
		chromedp.SetValue("#firstName", "Grace"), chromedp.SetValue("#lastName", "Hopper"),
		chromedp.SetValue("#email", "grace@example.com"), chromedp.Click("#agree"),
		chromedp.Click("button.main"),
		chromedp.WaitVisible("#cardNumber"),
		chromedp.SetValue("#cardNumber", badCard), chromedp.SetValue("#cardExpiry", "12/34"),
		chromedp.SetValue("#cardCvc", "123"),
		chromedp.Click("button.main"),
		chromedp.WaitVisible("[role=alert]"),
		chromedp.Click("#agree"), chromedp.Click("button.main"),
		chromedp.WaitVisible("#cardNumber"),
		chromedp.SetValue("#cardNumber", goodCard), chromedp.SetValue("#cardExpiry", "12/34"),
		chromedp.SetValue("#cardCvc", "123"),
		chromedp.Click("button.main"),
	))
	select {
	case got := <-arrived:
		require.Equal(t, "depositId="+id.Deposit.Of(d.ID)+"&depositStatus=secured from ", got)
	case <-time.After(30 * time.Second):
		t.Fatal("the browser never arrived")
	}
	w.requireStatus(d, deposit.Active, "")
}

// firstScreen measures what a phone shows of the form before anybody scrolls: the lowest edge of the parts, and the
// number of lines of the agreement.
const firstScreen = `(() => {
	const at = (q) => document.querySelector(q).getBoundingClientRect();
	const parts = [".payee", ".price", "#firstName", "#lastName", "#email", "#agree", "summary", "button.main"];
	const lowest = Math.max(...parts.map((q) => Math.ceil(at(q).bottom)));
	const text = document.createRange();
	text.selectNodeContents(document.querySelector("label.check span"));
	const lines = new Set([...text.getClientRects()].map((r) => Math.round(r.top))).size;
	const row = at("#firstName").top === at("#lastName").top;
	document.querySelector("summary").click();
	const words = document.querySelector("details p").checkVisibility();
	return JSON.stringify({lowest, fits: lowest <= innerHeight && scrollY === 0, lines, row, words});
})()`

func TestCheckout_OnAPhone_IsPaidWithoutScrolling(t *testing.T) {
	for _, lang := range []string{"en", "fr"} {
		t.Run(lang, func(t *testing.T) {
			w := setup(t, withImprint)
			_, err := w.Pool.Exec(context.WithoutCancel(t.Context()),
				`UPDATE accounts SET company_name = 'Chalets du Lac et de la Vallée'`)
			require.NoError(t, err)
			browser := browsertest.New(t, browsertest.DisableScripts, browsertest.Viewports["phone"])
			for name, change := range map[string]func(*deposit.Deposit){
				"short": func(d *deposit.Deposit) { d.Amount = 70_000 },
				"long": func(d *deposit.Deposit) { // the cover ends before the stay, and is counted from the payment
					d.Amount, d.ContractEndAt = 125_000, d.ContractEndAt.AddDate(0, 3, 0)
				},
			} {
				_, token := w.CreateDeposit(t, speaks(lang), change)
				require.NoError(t, chromedp.Do(browser, chromedp.Navigate(w.address(token)), chromedp.WaitVisible("#agree")))
				browsertest.RequireUsablePage(browser, t, "checkout-phone-"+name+"-"+lang)
				got, err := chromedp.Run(browser, chromedp.Evaluate[string](firstScreen))
				require.NoError(t, err)
				require.Regexp(t, `"fits":true,"lines":[12],"row":true,"words":true}$`, got, name)
				browsertest.RequireUsablePage(browser, t, "checkout-phone-unfolded-"+name+"-"+lang)
			}
		})
	}
}

func TestCheckout_NameOfAHundredCharacters_BreaksNothing(t *testing.T) {
	w := setup(t, withImprint)
	_, err := w.Pool.Exec(context.WithoutCancel(t.Context()), `UPDATE accounts SET company_name = repeat('W', 100)`)
	require.NoError(t, err)
	browser := browsertest.New(t, chromedp.EmulateViewport(320, 640, chromedp.EmulateMobile))
	_, token := w.CreateDeposit(t, speaks("fr"))
	require.NoError(t, chromedp.Do(browser, chromedp.Navigate(w.address(token)), chromedp.Click("summary")))
	browsertest.RequireUsablePage(browser, t, "checkout-320-long-name")
	require.NoError(t, chromedp.Do(browser,
		chromedp.SetValue("#firstName", "Grace"), chromedp.SetValue("#lastName", "Hopper"),
		chromedp.SetValue("#email", "grace@example.com"), chromedp.Click("#agree"), chromedp.Click("button.main"),
		chromedp.WaitVisible("#cardNumber")))
	browsertest.RequireUsablePage(browser, t, "checkout-320-payment")
}

func TestCheckout_EveryPageInBothSchemesAndLanguages_IsAccessible(t *testing.T) {
	t.Parallel()
	if !rarely.MustRun(t, rarely.PageTests) {
		return
	}
	for scheme, first := range browsertest.ColorSchemes {
		t.Run(scheme, func(t *testing.T) {
			lang := browsertest.LanguageByColorScheme[scheme]
			w := setup(t)
			browser := browsertest.New(t, first...)
			without := func(d *deposit.Deposit) { d.ReturnURL, d.URLGeneration = "", false }
			_, token := w.CreateDeposit(t, speaks(lang), without)
			_, second := w.CreateDeposit(t, speaks(lang), without)
			for _, step := range []struct {
				name string
				do   chromedp.Action[chromedp.Void]
			}{
				{"checkout", chromedp.Navigate(w.address(token))},
				{"checkout-mistakes", chromedp.Steps(
					chromedp.SetValue("#firstName", " "), chromedp.SetValue("#lastName", " "),
					chromedp.SetValue("#email", "grace@example"),
					chromedp.Click("button.main"), chromedp.WaitVisible("[role=alert]"))},
				{"checkout-payment", chromedp.Steps(
					chromedp.SetValue("#firstName", "Grace"), chromedp.SetValue("#lastName", "Hopper"),
					chromedp.SetValue("#email", "grace@example.com"), chromedp.Click("#agree"),
					chromedp.Click("button.main"), chromedp.WaitVisible("#cardNumber"))},
				{"checkout-refused", chromedp.Steps(
					chromedp.SetValue("#cardNumber", badCard), chromedp.SetValue("#cardExpiry", "12/34"),
					chromedp.SetValue("#cardCvc", "123"),
					chromedp.Click("button.main"), chromedp.WaitVisible("[role=alert]"))},
				{"checkout-give-up", chromedp.Steps(chromedp.Click("button.plain"), chromedp.WaitVisible("button.danger.whole"))},
				{"checkout-given-up",
					chromedp.Steps(chromedp.Click("button.danger.whole"), chromedp.WaitNotPresent("button.danger.whole"))},
				{"checkout-secured", chromedp.Steps(
					chromedp.Navigate(w.address(second)),
					chromedp.SetValue("#firstName", "Grace"), chromedp.SetValue("#lastName", "Hopper"),
					chromedp.SetValue("#email", "grace@example.com"), chromedp.Click("#agree"),
					chromedp.Click("button.main"), chromedp.WaitVisible("#cardNumber"),
					chromedp.SetValue("#cardNumber", goodCard), chromedp.SetValue("#cardExpiry", "12/34"),
					chromedp.SetValue("#cardCvc", "123"),
					chromedp.Click("button.main"), chromedp.WaitNotPresent("#cardNumber"))},
			} {
				require.NoError(t, chromedp.Do(browser, step.do), step.name)
				for device, viewport := range browsertest.Viewports {
					require.NoError(t, chromedp.Do(browser, viewport))
					browsertest.RequireUsablePage(browser, t, strings.Join([]string{step.name, lang, scheme, device}, "-"))
				}
			}
		})
	}
}
