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
