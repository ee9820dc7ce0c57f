package dashboard_test

import (
	"context"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/browsertest"
	"partnerdeposits/lab/connecttest"
	"partnerdeposits/lab/rarely"
)

// signUp signs a new operator up without a partner, in the browser.
func signUp(ctx context.Context, t *testing.T, s *connecttest.Server, email string) {
	t.Helper()
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate(s.URL+"/register"), chromedp.SetValue("#email", email), chromedp.SetValue("#password", secretWord),
		chromedp.SetValue("#companyName", "Chalets du Lac"), chromedp.Click("button.main"), chromedp.WaitVisible("nav.desk"),
	))
}

func TestBrowser_EveryAccountPageInBothSchemesAndLanguages_IsAccessible(t *testing.T) {
	t.Parallel()
	if !rarely.MustRun(t, rarely.PageTests) {
		return
	}
	for scheme, first := range browsertest.ColorSchemes {
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
			_, err = s.Operators.MailPasswordResetByAdmin(t.Context(), o.ID, "")
			require.NoError(t, err)
			reset := mailed(t, s, "a@b.example")
			fill := chromedp.Steps(chromedp.SetValue("#amount", "300"), chromedp.SetValue("#startsOn", "2031-07-01"),
				chromedp.SetValue("#endsOn", "2031-07-08"), chromedp.SetValue("#email", "x@y.example"))
			steps := []step{
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
			requireLooks(browser, t, s.URL, scheme, steps)
			require.NoError(t, chromedp.Do(browser, // the forms work without a script
				chromedp.Navigate(s.URL+"/password/forgot"), chromedp.SetValue("#email", "a@b.example"),
				chromedp.Click("button.main"), chromedp.WaitNotPresent("#email"),
				chromedp.Navigate(s.URL+reset), chromedp.SetValue("#password", "another password"),
				chromedp.Click("button.main"), chromedp.WaitVisible("#email"), chromedp.SetValue("#email", "a@b.example"),
				chromedp.SetValue("#password", "another password"), chromedp.Click("button.main"),
				chromedp.WaitVisible("nav.desk")))
		})
	}
}
