package dashboard_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/totp"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/twofactor"
	"partnerdeposits/lab/browsertest"
	"partnerdeposits/lab/connecttest"
)

// An operator turns codes on, logs in with one, and captures with one, in each language and colour scheme.
func TestBrowser_TwoFactorCodes_FromTheSetUpToACapture(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ device, lang, scheme string }{
		{"phone", "fr", "dark"}, {"desktop", "en", "light"},
	} {
		t.Run(c.device+" "+c.lang+" "+c.scheme, func(t *testing.T) {
			t.Parallel()
			s := connecttest.New(t, connecttest.Options{})
			p := s.CreatePartner("demo")
			browser := browsertest.New(t, browsertest.ColorSchemes[c.scheme]...)
			require.NoError(t, chromedp.Do(browser, viewports[c.device], browsertest.DisableScripts))
			account := signIn(browser, t, s, "a@b.example")
			reference := deposits(t, s, p, account.ID, 1)[0]
			secured(t, s, reference, 48*time.Hour)
			picture := func(name string) {
				t.Helper()
				for device, viewport := range viewports {
					require.NoError(t, chromedp.Do(browser, viewport))
					browsertest.RequireUsablePage(browser, t, name+"-"+c.lang+"-"+c.scheme+"-"+device)
				}
				require.NoError(t, chromedp.Do(browser, viewports[c.device]))
			}
			require.NoError(t, chromedp.Do(browser,
				chromedp.Navigate(s.URL+"/dashboard/settings?lang="+c.lang), chromedp.WaitVisible("#two-factor"),
				chromedp.Click("#enable_totp summary"), chromedp.SendKeys("#enable_totp-currentPassword", password),
				chromedp.Click("#enable_totp button"), chromedp.WaitVisible("svg.qr"),
			))
			picture("codes-set-up")
			key := secret.Text(strings.ReplaceAll(ask(browser, t, "document.querySelector('#secret').textContent"), " ", ""))
			code := func() string {
				s.Clock.Add(twofactor.CodePeriod)
				shown, err := totp.CodeGenerator{}.Code(key, twofactor.CodePeriodNumberAt(s.Clock.Now()))
				require.NoError(t, err)
				return shown
			}
			require.NoError(t, chromedp.Do(browser, chromedp.SendKeys("#confirm_totp-code", code()),
				chromedp.Click("button.main"), chromedp.WaitVisible("ul.codes")))
			picture("codes-recovery")
			require.NoError(t, chromedp.Do(browser, chromedp.Click("a.button.main"), chromedp.WaitVisible("#disable_totp")))
			picture("codes-on")
			require.NoError(t, chromedp.Do(browser,
				chromedp.Click("footer button"), chromedp.WaitVisible("#password"),
				chromedp.SetValue("#email", "a@b.example"), chromedp.SetValue("#password", "correct horse battery"),
				chromedp.Click("button.main"), chromedp.WaitVisible("#code"),
			))
			picture("codes-login")
			require.NoError(t, chromedp.Do(browser, chromedp.SendKeys("#code", "000"), chromedp.Click("button.main"),
				chromedp.WaitVisible("[role=alert]")))
			picture("codes-login-mistake")
			require.Equal(t, "code", ask(browser, t, "document.activeElement.id"))
			require.NoError(t, chromedp.Do(browser,
				chromedp.SendKeys("#code", code()), chromedp.Click("button.main"), chromedp.WaitVisible("nav.desk"),
				chromedp.Navigate(s.URL+pathOf(t, s, reference)), chromedp.Click("#capture a"),
				chromedp.WaitVisible("#capture-amount"),
				chromedp.SetValue("#capture-amount", "80"), chromedp.Click("#capture button"), chromedp.WaitVisible("#code"),
			))
			picture("codes-capture")
			require.NoError(t, chromedp.Do(browser, chromedp.SendKeys("#code", code()), chromedp.Click("button.danger"),
				chromedp.WaitVisible(".notice")))
			require.Equal(t, deposit.Captured, depositOf(t, s, reference).Status)
		})
	}
}
