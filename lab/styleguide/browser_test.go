package styleguide_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/lab/browsertest"
	"partnerdeposits/lab/connecttest"
	"partnerdeposits/lab/rarely"
	"partnerdeposits/lab/servicetest"
	ports "partnerdeposits/ports/platform"
)

// The pages without a sign-in, those of development, and the forms with their mistakes. The operator's pages and
// checkout have tests of their own.
func TestBrowser_EveryPublicPageInBothSchemesAndLanguages_IsAccessible(t *testing.T) {
	t.Parallel()
	if !rarely.MustRun(t, rarely.PageTests) {
		return
	}
	for scheme, first := range browsertest.ColorSchemes {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			s := connecttest.New(t, connecttest.Options{})
			sent := servicetest.NewID()
			s.RunInTransaction(func(ctx context.Context, r *postgres.Store) error {
				return r.Mails.Enqueue(ctx, ports.Mail{ID: sent, To: "grace@example.com", Subject: "A caught mail", Body: "Words.",
					HTML: "<p>Words.</p>", CreatedAt: s.Clock.Now()})
			})
			browser := browsertest.New(t, first...)
			lang := browsertest.LanguageByColorScheme[scheme]
			for name, path := range map[string]string{
				"register": "/register", "login": "/login", "forgot": "/password/forgot", "reset": "/password/reset?token=x",
				"verify": "/verify?token=x", "not-found": "/nothing",
				"styleguide": "/styleguide", "styleguide-mails": "/styleguide/mails", "sandbox-mails": "/sandbox/mails",
			} {
				for device, viewport := range browsertest.Viewports {
					separator := "?"
					if strings.Contains(path, "?") {
						separator = "&"
					}
					require.NoError(t, chromedp.Do(browser, viewport, chromedp.Navigate(s.URL+path+separator+"lang="+lang)), name)
					browsertest.RequireUsablePage(browser, t, strings.Join([]string{name, lang, scheme, device}, "-"))
				}
			}
			require.NoError(t, chromedp.Do(browser, chromedp.Navigate(s.URL+"/sandbox/mails"), chromedp.Click("ul.rows a"),
				chromedp.WaitVisible("iframe.mail")))
			browsertest.RequireUsablePage(browser, t, "sandbox-mail-"+lang+"-"+scheme)
		})
	}
}

// The copy button is shown where scripts run. A click copies a field, or the texts of a list, to the clipboard, and a
// message tells that they were copied.
func TestBrowser_CopyButtons_CopyWhereScriptsRun(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	s.NewBrowser(t).Get("/styleguide").RequireNoForeignScript(t, "/styleguide")
	ask := func(browser context.Context, expression string) string {
		t.Helper()
		answer, err := chromedp.Run(browser, chromedp.Evaluate[string](expression))
		require.NoError(t, err)
		return answer
	}
	browser := browsertest.New(t)
	require.NoError(t, chromedp.Do(browser, chromedp.Navigate(s.URL+"/styleguide"),
		chromedp.WaitVisible(`[data-copy="light-copy"]`)))
	ask(browser, `navigator.clipboard.writeText = async text => { window.copied = text }; ""`)
	for of, want := range map[string]string{"light-copy": "https://example.com/checkout/…",
		"light-codes": "abcd-efgh-ijkl-mnop\nqrst-uvwx-yz23-4567"} {
		button := `[data-copy="` + of + `"]`
		require.NoError(t, chromedp.Do(browser, chromedp.Click(button)))
		require.Eventually(t, func() bool {
			return ask(browser, `document.querySelector('`+button+` + [role=status]').textContent`) == "Copied."
		}, time.Minute, 10*time.Millisecond)
		require.Equal(t, want, ask(browser, "window.copied"))
	}

	plain := browsertest.New(t)
	require.NoError(t, chromedp.Do(plain, browsertest.DisableScripts, chromedp.Navigate(s.URL+"/styleguide"),
		chromedp.WaitVisible("#light-copy")))
	require.Equal(t, "0", ask(plain,
		`String([...document.querySelectorAll("[data-copy]")].filter(b => b.checkVisibility()).length)`))
}
