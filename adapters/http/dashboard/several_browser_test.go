package dashboard_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	acts "partnerdeposits/app/deposits"
	"partnerdeposits/core/site"
	"partnerdeposits/lab/connecttest"
)

// sendTicked sends the form of an act on the deposits at the paths, with the token of the page that is open.
func sendTicked(act string, paths ...string) chromedp.Action[chromedp.Void] {
	var fields strings.Builder
	for _, path := range paths {
		fmt.Fprintf(&fields, "<input name=deposit value=%s>", strings.TrimPrefix(path, site.Deposits+"/"))
	}
	send := chromedp.Evaluate[bool](fmt.Sprintf(`(() => {
		const form = document.createElement("form");
		[form.method, form.action] = ["post", %q];
		form.innerHTML = "<input name=intent value=%s>%s";
		form.append(document.querySelector("input[name=csrf_token]").cloneNode());
		document.body.append(form);
		form.submit();
		return true;
	})()`, site.Deposits, act, &fields))
	return func(ctx context.Context, target *chromedp.Target) (done chromedp.Void, err error) {
		_, err = send(ctx, target)
		return done, err
	}
}

// The question and the outcome of a form about several deposits outlive Back and Reload, and mail each tenant once.
func TestBrowser_AFormAboutSeveralDeposits_OutlivesBackReloadAndTheSession(t *testing.T) {
	t.Parallel()
	for _, act := range acts.SeveralActs {
		t.Run(string(act), func(t *testing.T) {
			t.Parallel()
			d := newDeskBrowser(t, func(t *testing.T, s *connecttest.Server, reference string) {
				t.Helper()
				refused(t, s, reference)
				known(t, s, reference, "ada@lovelace.example")
			})
			d.do(chromedp.Navigate(d.URL+site.Deposits), chromedp.Click("input[name=deposit]"),
				chromedp.Click("#ticked button[value="+string(act)+"]"), chromedp.WaitReady(question))
			heading, page := d.heading(), d.at()
			require.Contains(t, heading, " 1 tenant?")
			require.True(t, strings.HasPrefix(page, site.Deposits+"/confirm/"), page)
			d.do(chromedp.Reload(), chromedp.WaitReady(question))
			require.Equal(t, heading, d.heading())
			d.do(chromedp.Navigate(d.URL+site.Desk), chromedp.NavigateBack(), chromedp.WaitReady(question))
			require.Equal(t, heading, d.heading(), "back")

			d.endSession()
			d.do(chromedp.Click("main form button"))
			d.logIn()
			require.Equal(t, heading, d.heading(), "after the log-in")
			require.Zero(t, d.Count("mails", "link_of IS NOT NULL"))
			d.do(chromedp.Click("main form button"), chromedp.WaitNotPresent(question), chromedp.WaitVisible("#mailed"))
			require.Equal(t, "1 link is on its way.", d.heading())
			require.Equal(t, page, d.at())
			d.do(chromedp.Reload(), chromedp.WaitVisible("#mailed"))
			require.Equal(t, "1 link is on its way.", d.heading(), "reloaded")
			d.do(chromedp.Navigate(d.URL+site.Desk), chromedp.NavigateBack(), chromedp.WaitVisible("#mailed"))
			require.Equal(t, "1 link is on its way.", d.heading(), "back")
			require.Equal(t, 1, d.Count("mails", "recipient = 'ada@lovelace.example' AND link_of IS NOT NULL"))
		})
	}
}
