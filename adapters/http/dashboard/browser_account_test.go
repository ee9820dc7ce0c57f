package dashboard_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/browsertest"
	"partnerdeposits/lab/connecttest"
)

// signUp signs a new operator up without a partner, in the browser.
func signUp(ctx context.Context, t *testing.T, s *connecttest.Server, email string) {
	t.Helper()
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate(s.URL+"/register"), chromedp.SendKeys("#email", email), chromedp.SendKeys("#password", secretWord),
		chromedp.SendKeys("#companyName", "Chalets du Lac"), chromedp.Click("button.main"), chromedp.WaitVisible("nav.desk"),
	))
}

func onEachViewport(t *testing.T, journey func(t *testing.T, s *connecttest.Server, browser context.Context)) {
	t.Helper()
	for name, viewport := range viewports {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			browser := browsertest.New(t)
			require.NoError(t, chromedp.Do(browser, viewport, browsertest.WithoutScript))
			journey(t, connecttest.New(t, connecttest.Options{Mails: true}), browser)
		})
	}
}

func TestBrowser_FromSignUpToAVerifiedAddress(t *testing.T) {
	t.Parallel()
	onEachViewport(t, func(t *testing.T, s *connecttest.Server, browser context.Context) {
		signUp(browser, t, s, "a@b.example")
		require.Contains(t, ask(browser, t, "document.querySelector('main').textContent"), "We mailed a link to a@b.example")
		require.NoError(t, chromedp.Do(browser, chromedp.Click("section.terms button"), chromedp.WaitVisible(".notice")))
		require.NoError(t,
			chromedp.Do(browser, chromedp.Navigate(s.URL+mailed(t, s, "a@b.example")), chromedp.WaitVisible("button.main")))
		require.Zero(t, s.Count("operators", "verified_at IS NOT NULL"))
		require.NoError(t, chromedp.Do(browser, chromedp.Click("button.main"), chromedp.WaitNotPresent("button.main")))
		require.Equal(t, "Your address is verified", ask(browser, t, "document.querySelector('h1').textContent"))
		require.NoError(t, chromedp.Do(browser, chromedp.Click("main a"), chromedp.WaitVisible("nav.desk")))
		require.NotContains(t, ask(browser, t, "document.querySelector('main').textContent"), "We mailed a link to")
		require.Equal(t, 1, s.Count("operators", "verified_at IS NOT NULL"))
	})
}

func TestBrowser_FromAForgottenPasswordToTheDesk(t *testing.T) {
	t.Parallel()
	onEachViewport(t, func(t *testing.T, s *connecttest.Server, browser context.Context) {
		signed := s.Browser(t).Submit("/register",
			map[string]string{"email": "a@b.example", "password": secretWord, "companyName": "Chalets"})
		require.Equal(t, http.StatusSeeOther, signed.Status)
		require.NoError(t, chromedp.Do(browser,
			chromedp.Navigate(s.URL+"/login"), chromedp.Click(`a[href="/password/forgot"]`), chromedp.WaitVisible("#email"),
			chromedp.SendKeys("#email", "a@b.example"),
			chromedp.Click("button.main"), chromedp.WaitNotPresent("#email"),
		))
		require.Equal(t, "Look into your mailbox", ask(browser, t, "document.querySelector('h1').textContent"))
		_, err := s.Operators.MailResets(t.Context())
		require.NoError(t, err)
		require.NoError(t, chromedp.Do(browser,
			chromedp.Navigate(s.URL+mailed(t, s, "a@b.example")), chromedp.SendKeys("#password", "another password"),
			chromedp.Click("button.main"), chromedp.WaitVisible("#email"),
		))
		require.Contains(t, ask(browser, t, "document.querySelector('.notice').textContent"), "Your new password is saved")
		require.NoError(t, chromedp.Do(browser,
			chromedp.SendKeys("#email", "a@b.example"), chromedp.SendKeys("#password", "another password"),
			chromedp.Click("button.main"), chromedp.WaitVisible("nav.desk"),
		))
	})
}

func TestBrowser_ChangeOfAddressAndEndOfASession(t *testing.T) {
	t.Parallel()
	onEachViewport(t, func(t *testing.T, s *connecttest.Server, browser context.Context) {
		signUp(browser, t, s, "a@b.example")
		other := logIn(t, s, "a@b.example", secretWord)
		require.NoError(t, chromedp.Do(browser,
			chromedp.Click(`nav.desk a[href="/dashboard/settings"]`), chromedp.WaitVisible("#sessions"),
			chromedp.Click("ul.rows button"), chromedp.WaitVisible(".notice"),
		))
		require.Equal(t, "/login", other.Get("/dashboard").Location)
		other = logIn(t, s, "a@b.example", secretWord)
		require.NoError(t, chromedp.Do(browser,
			chromedp.Click("section[aria-labelledby=address] summary"), chromedp.WaitVisible("#change_email-email"),
			chromedp.SendKeys("#change_email-email", "new@b.example"),
			chromedp.SendKeys("#change_email-currentPassword", "wrong password"),
			chromedp.Click("section[aria-labelledby=address] details button"), chromedp.WaitVisible("[role=alert]"),
		))
		require.Equal(t, "change_email-currentPassword", ask(browser, t, "document.activeElement.id"),
			"the mistake has the focus")
		require.NoError(t, chromedp.Do(browser,
			chromedp.SendKeys("#change_email-currentPassword", secretWord),
			chromedp.Click("section[aria-labelledby=address] details button"), chromedp.WaitVisible(".notice"),
		))
		require.NoError(t, chromedp.Do(browser,
			chromedp.Navigate(s.URL+mailed(t, s, "new@b.example")), chromedp.Click("button.main"),
			chromedp.WaitNotPresent("button.main"),
			chromedp.Navigate(s.URL+"/dashboard/settings"), chromedp.WaitVisible("#sessions"),
		))
		require.Contains(t, ask(browser, t, "document.querySelector('main').textContent"), "new@b.example")
		require.Equal(t, "/login", other.Get("/dashboard").Location)
	})
}

func TestBrowser_EveryAccountPageInBothSchemesAndLanguages_IsAccessible(t *testing.T) {
	t.Parallel()
	for scheme, first := range browsertest.Schemes {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			s := connecttest.New(t, connecttest.Options{Mails: true})
			browser := browsertest.New(t, first...)
			require.NoError(t, chromedp.Do(browser, viewports["phone"]))
			signUp(browser, t, s, "a@b.example")
			verify := mailed(t, s, "a@b.example")
			logIn(t, s, "a@b.example", secretWord)
			o, _, err := s.Postgres.Operators.OperatorByEmail(t.Context(), "a@b.example")
			require.NoError(t, err)
			_, err = s.Operators.ResetByAdmin(t.Context(), o.ID, "")
			require.NoError(t, err)
			reset := mailed(t, s, "a@b.example")
			fill := chromedp.Steps(chromedp.SetValue("#amount", "300"), chromedp.SetValue("#startsOn", "2027-07-01"),
				chromedp.SetValue("#endsOn", "2027-07-08"), chromedp.SetValue("#email", "x@y.example"))
			steps := []struct {
				name string
				do   chromedp.Action[chromedp.Void]
			}{
				{"today-unverified", chromedp.Navigate(s.URL + "/dashboard")},
				{"unverified-refused", chromedp.Steps(chromedp.Navigate(s.URL+"/dashboard/deposits/new"), fill,
					chromedp.Click("button.main"), chromedp.WaitNotPresent("#amount"))},
				{"settings", chromedp.Steps(chromedp.Navigate(s.URL+"/dashboard/settings"),
					chromedp.Click("section[aria-labelledby=password] summary"))},
				{"settings-mistake", chromedp.Steps(
					chromedp.Navigate(s.URL+"/dashboard/settings"), chromedp.SetValue("#change_company-companyName", " "),
					chromedp.Click("section[aria-labelledby=company] button"), chromedp.WaitVisible("[role=alert]"),
				)},
				{"verify", chromedp.Navigate(s.URL + verify)},
				{"link-void", chromedp.Navigate(s.URL + "/verify?token=x")},
				{"password-forgot", chromedp.Navigate(s.URL + "/password/forgot")},
				{"password-sent", chromedp.Navigate(s.URL + "/password/forgot?done=1")},
				{"password-reset", chromedp.Navigate(s.URL + reset)},
			}
			for _, lang := range []string{"en", "fr"} {
				require.NoError(t, chromedp.Do(browser, chromedp.Navigate(s.URL+"/dashboard?lang="+lang)))
				for _, step := range steps {
					require.NoError(t, chromedp.Do(browser, step.do), step.name)
					for device, viewport := range viewports {
						require.NoError(t, chromedp.Do(browser, viewport, browsertest.WithoutScript))
						name := step.name + "-" + lang + "-" + scheme + "-" + device
						require.Equal(t, lang, ask(browser, t, "document.documentElement.lang"), name)
						browsertest.LooksRight(browser, t, name)
					}
				}
			}
		})
	}
}
