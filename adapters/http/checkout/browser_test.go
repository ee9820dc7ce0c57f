package checkout_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
)

// chromium starts a browser that ends with the test.
func chromium(t *testing.T) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.Flag("disable-dev-shm-usage", true)) // tests may run as root, in containers
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 2*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return ctx
}

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
	d, token := w.Deposit(t, func(d *deposit.Deposit) { d.ReturnURL = partnerSite.URL + "/back" })

	browser := chromium(t)
	require.NoError(t, chromedp.Do(browser,
		chromedp.Navigate(w.address(token)),
		chromedp.SetValue("#firstName", "Grace"), chromedp.SetValue("#lastName", "Hopper"), chromedp.SetValue("#email", "grace@example.com"),
		chromedp.Click("button.main"),
		chromedp.WaitVisible("#cardNumber"),
		chromedp.SetValue("#cardNumber", badCard), chromedp.SetValue("#cardExpiry", "12/34"), chromedp.SetValue("#cardCvc", "123"),
		chromedp.Click("button.main"),
		chromedp.WaitVisible("[role=alert]"),
		chromedp.Click("button.main"),
		chromedp.WaitVisible("#cardNumber"),
		chromedp.SetValue("#cardNumber", goodCard), chromedp.SetValue("#cardExpiry", "12/34"), chromedp.SetValue("#cardCvc", "123"),
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

// The browser prefers English, the deposit French. The tenant switches on a page that answers the form.
func TestCheckout_InARealBrowser_SpeaksTheDepositsLanguageUntilTheTenantSwitches(t *testing.T) {
	w := setup(t)
	_, token := w.Deposit(t, speaks("fr"))
	browser := chromium(t)
	ask := func(expression string) string {
		t.Helper()
		answer, err := chromedp.Run(browser, chromedp.Evaluate[string](expression))
		require.NoError(t, err)
		return answer
	}
	const language, mistakes = "document.documentElement.lang", "[...document.querySelectorAll('[role=alert] a')].map(a => a.hash).join()"

	require.NoError(t, chromedp.Do(browser,
		chromedp.Navigate(w.address(token)), chromedp.SetValue("#email", "grace"), chromedp.Click("button.main"), chromedp.WaitVisible("[role=alert]")))
	require.Equal(t, "fr", ask(language))
	require.Equal(t, "#firstName,#lastName,#email", ask(mistakes))
	require.Equal(t, "firstName", ask("document.activeElement.id"))

	require.NoError(t, chromedp.Do(browser, chromedp.Click("a[hreflang=en]"), chromedp.WaitVisible("a[hreflang=fr]")))
	require.Equal(t, "en", ask(language))
	require.NoError(t, chromedp.Do(browser, chromedp.SetValue("#firstName", "Grace"), chromedp.Click("button.main"), chromedp.WaitVisible("[role=alert]")))
	require.Equal(t, "en", ask(language))
	require.Equal(t, "#lastName,#email", ask(mistakes))
}
