package dashboard_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/browsertest"
	"partnerdeposits/lab/connecttest"
	"partnerdeposits/lab/rarely"
)

// bottomOf gives the distance of the lower edge of an element from the top of the page.
func bottomOf(ctx context.Context, t *testing.T, selector string) int {
	t.Helper()
	edge, err := strconv.Atoi(ask(ctx, t,
		`String(Math.ceil(document.querySelector("`+selector+`").getBoundingClientRect().bottom + scrollY))`))
	require.NoError(t, err)
	return edge
}

// The first page of an account without deposits, with some that need nothing, and with much to do.
func TestBrowser_Today_LooksRight(t *testing.T) {
	t.Parallel()
	if !rarely.MustRun(t, rarely.PageTests) {
		return
	}
	for scheme, first := range browsertest.ColorSchemes {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			s := connecttest.New(t, connecttest.Options{Mails: true})
			p := s.CreatePartner("demo")
			browser := browsertest.New(t, first...)
			require.NoError(t, chromedp.Do(browser, viewports["phone"]))
			account := signIn(browser, t, s, "a@b.example")
			look := func(name string) {
				t.Helper()
				for _, lang := range []string{"en", "fr"} {
					require.NoError(t, chromedp.Do(browser, chromedp.Navigate(s.URL+"/dashboard?lang="+lang)))
					for device, viewport := range viewports {
						require.NoError(t, chromedp.Do(browser, viewport, browsertest.DisableScripts))
						browsertest.RequireUsablePage(browser, t, name+"-"+lang+"-"+scheme+"-"+device)
					}
				}
			}
			look("today-empty")
			change(t, s, `UPDATE operators SET verified_at = now()`)
			made := deposits(t, s, p, account.ID, 24)
			s.Clock.Add(time.Minute) // the number of this month's deposits is kept so long
			for _, reference := range made {
				secured(t, s, reference, 900*time.Hour)
			}
			look("today-calm")
			fillToday(t, s, made)
			look("today-full")
			require.NoError(t, chromedp.Do(browser, viewports["desktop"],
				chromedp.Navigate(s.URL+"/dashboard?lang=en"), chromedp.WaitVisible("#needs")))
			require.LessOrEqual(t, bottomOf(browser, t, "#find"), 200)
			require.LessOrEqual(t, bottomOf(browser, t, ".topline .main"), 200)
			require.NoError(t, chromedp.Do(browser, chromedp.SendKeys("#find", "lopez"),
				chromedp.Click("form[role=search] button"), chromedp.WaitNotPresent("#needs")))
			require.Contains(t, ask(browser, t, "document.querySelector('main').textContent"), "García López")
		})
	}
}

// fillToday gives each group of Today deposits.
func fillToday(t *testing.T, s *connecttest.Server, made []string) {
	t.Helper()
	names := [][2]string{{"Ada", "Byron"}, {"Jean-Baptiste", "de La Rochefoucauld-Montmorency"}, {"Grace", "Hopper"},
		{"Íñigo", "García López"}, {"Åsa", "Øst"}}
	for i, reference := range made {
		if i%4 != 3 && i < 20 {
			name := names[i%len(names)]
			ofTenant(t, s, reference, name[0], name[1], "tenant@example.com")
		}
		back := `UPDATE deposits SET status = 'pending', activated_at = NULL, expires_at = NULL WHERE reference = $1`
		switch {
		case i < 7:
			change(t, s, back, reference)
			begins(t, s, reference, time.Duration(i)*24*time.Hour)
		case i < 13:
			change(t, s, back, reference)
			begins(t, s, reference, 900*time.Hour)
			if i < 10 {
				refused(t, s, reference)
			}
		case i < 17:
			change(t, s, back, reference)
			secured(t, s, reference, time.Duration(i)*10*time.Hour)
		case i < 20:
			captured(t, s, reference, 12_050)
		case i < 22:
			refusedClaim(t, s, reference)
		}
	}
	change(t, s, `UPDATE collections SET asked_at = asked_at - interval '24 hours'
		WHERE deposit_id = (SELECT id FROM deposits WHERE reference = $1)`, made[20])
}
