package connect_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/browsertest"
)

// partnerSite stands where return_url leads to: another origin, which a policy could forbid.
func partnerSite(t *testing.T) string {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<p id="arrived">back at the partner</p>`)
	}))
	t.Cleanup(site.Close)
	return site.URL + "/done?x=1"
}

// press types into the page as it is focused: tab, words, enter.
func press(keys ...string) chromedp.Action[chromedp.Void] {
	var steps []chromedp.Action[chromedp.Void]
	for _, k := range keys {
		steps = append(steps, chromedp.KeyEvent(k))
	}
	return chromedp.Steps(steps...)
}

func location(ctx context.Context, t *testing.T) string {
	t.Helper()
	where, err := chromedp.Run(ctx, chromedp.Location())
	require.NoError(t, err)
	return where
}

func TestBrowser_SignsUpAndEndsAtThePartner_ByKeyboardAlone(t *testing.T) {
	s := demo(t)
	browser := browsertest.New(t)
	path := "/register?" + good(s, "demo", "op-1", "&email=a%40b.example&name=Chalets"+returnTo(partnerSite(t)))
	require.NoError(t, chromedp.Do(browser,
		chromedp.Navigate(s.URL+path),
		chromedp.WaitVisible("#email"),
		// Skip link, language, e-mail; then the two other fields.
		press("\t", "\t", "\t", "\t"),
		press(password, "\r"),
		chromedp.WaitVisible("#arrived"),
	))
	requireResult(t, location(browser, t), "linked", "op-1", "")
	require.Equal(t, 1, s.Count("account_links", "revoked_at IS NULL"))
}
