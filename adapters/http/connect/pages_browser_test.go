package connect_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/partner"
	"partnerdeposits/lab/browsertest"
	"partnerdeposits/lab/connecttest"
	"partnerdeposits/lab/rarely"
)

// The pages between a partner's link and the way back are pictured, and read by a script that looks for what a person
// could not see, reach or press.
func TestBrowser_LinkingPagesInBothSchemesAndLanguages_AreAccessible(t *testing.T) {
	t.Parallel()
	if !rarely.MustRun(t, rarely.PageTests) {
		return
	}
	for scheme, first := range browsertest.ColorSchemes {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			// which asks before it leads to an unknown origin
			s := connecttest.New(t, connecttest.Options{Environment: partner.EnvironmentProduction})
			s.CreatePartner("demo")
			browser := browsertest.New(t, first...)
			require.NoError(t, chromedp.Do(browser, browsertest.DisableScripts,
				chromedp.Navigate(s.URL+"/register?"+good(s, "demo", "op-0", "")), chromedp.WaitVisible("#email")))
			lang := browsertest.LanguageByColorScheme[scheme]
			external := "op-" + lang
			for _, step := range []struct {
				name string
				do   chromedp.Action[chromedp.Void]
			}{
				{"connect-register", chromedp.Navigate(s.URL + "/register?" + good(s, "demo", external, "&lang="+lang))},
				{"connect-login", chromedp.Navigate(s.URL + "/login?" + good(s, "demo", external, "&lang="+lang))},
				{"connect-refused", chromedp.Navigate(s.URL + "/register?" +
					strings.Replace(good(s, "demo", external, "&lang="+lang), "&sig=", "&sig=0", 1))},
				{"connect-consent", chromedp.Steps(
					chromedp.Navigate(s.URL+"/register"), chromedp.SetValue("#email", lang+"@b.example"),
					chromedp.SetValue("#password", password),
					chromedp.SetValue("#companyName", "Chalets"), chromedp.Click("button.main"), chromedp.WaitVisible("nav.desk"),
					chromedp.Navigate(s.URL+"/login?"+good(s, "demo", external, "&lang="+lang+returnTo("https://pms.example/done"))),
					chromedp.WaitVisible("button.main"))},
				{"connect-done", chromedp.Steps(chromedp.Click("button.main"), chromedp.WaitVisible("a.button"))},
				{"connect-linked", chromedp.Navigate(s.URL + "/login?" +
					good(s, "demo", external, "&lang="+lang+returnTo("https://pms.example/done")))},
			} {
				require.NoError(t, chromedp.Do(browser, step.do), step.name)
				for device, viewport := range browsertest.Viewports {
					require.NoError(t, chromedp.Do(browser, viewport))
					browsertest.RequireUsablePage(browser, t, step.name+"-"+lang+"-"+scheme+"-"+device)
				}
			}
			require.NoError(t, chromedp.Do(browser, chromedp.Navigate(s.URL+"/dashboard"), chromedp.Click("footer button"),
				chromedp.WaitVisible("#password")))
		})
	}
}
