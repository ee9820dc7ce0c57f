package dashboard_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/site"
	"partnerdeposits/lab/browsertest"
	"partnerdeposits/lab/connecttest"
)

// menu gives the place of each entry, in pixels.
const menu = `[...document.querySelectorAll("nav.desk a")].map((e) => {
	const box = e.getBoundingClientRect();
	return [box.left, box.top, box.width].map(Math.round).join(" ");
}).join("; ")`

// menuLines counts the lines of the menu.
const menuLines = `String(new Set([...document.querySelectorAll("nav.desk a")].map((e) =>
	Math.round(e.getBoundingClientRect().top))).size)`

func TestBrowser_TheMenuStandsStill_InOneLineOnAPhone(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	s.CreatePartner("demo")
	browser := browsertest.New(t)
	require.NoError(t, chromedp.Do(browser, viewports["desktop"]))
	signIn(browser, t, s, "a@b.example")
	for device, viewport := range viewports {
		for _, lang := range []string{"en", "fr"} {
			require.NoError(t, chromedp.Do(browser, viewport))
			places := map[string]bool{}
			for _, page := range []string{site.DashboardPath, site.DepositsPath, site.MoneyPath, site.PartnerPath,
				site.SettingsPath} {
				require.NoError(t, chromedp.Do(browser, chromedp.Navigate(s.URL+page+"?lang="+lang),
					chromedp.WaitVisible("nav.desk [aria-current]")))
				places[ask(browser, t, menu)] = true
				require.Equal(t, "1", ask(browser, t, menuLines), "%s, %s, %s", page, device, lang)
			}
			require.Len(t, places, 1, "%s, %s: %v", device, lang, places)
		}
	}
}
