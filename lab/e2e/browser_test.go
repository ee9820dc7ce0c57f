package e2e_test

import (
	"bytes"
	"context"
	"image"
	"image/jpeg"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/browsertest"
)

// photoOfDamage writes a picture to a file.
func photoOfDamage(t testing.TB) (path string) {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 64, 48)), nil))
	path = filepath.Join(t.TempDir(), "oven.jpg")
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
	return path
}

// shown gives the text of the page's main part.
func shown(ctx context.Context, t testing.TB) string {
	t.Helper()
	browsertest.AwaitLoaded(ctx, t)
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string]("document.querySelector('main').textContent"))
	require.NoError(t, err)
	return text
}

// TestBrowser_AnOperatorAndATenant_WithoutScripts goes from the connect URL to the end of the link on the built
// processes: sign-up, verified address, deposit, checkout, capture with a photo.
func TestBrowser_AnOperatorAndATenant_WithoutScripts(t *testing.T) {
	t.Parallel()
	server, mails := mailServer(t)
	w := newWorld(t, mails,
		"MAIL_FROM=Deposits <no-reply@example.com>")
	w.http(t)
	w.dispatcher(t)
	photo := photoOfDamage(t)
	for device, viewport := range browsertest.Viewports {
		t.Run(device, func(t *testing.T) {
			browser := browsertest.New(t)
			do := func(steps ...chromedp.Action[chromedp.Void]) {
				t.Helper()
				require.NoError(t, chromedp.Do(browser, steps...))
			}
			address := device + "@example.com"
			do(viewport, browsertest.DisableScripts,
				chromedp.Navigate(w.connectURL(t, "op-"+device)), chromedp.SetValue("#email", address),
				chromedp.SetValue("#password", "correct horse battery"),
				chromedp.SetValue("#companyName", "Chalets du Lac"), chromedp.Click("button.main"),
				chromedp.WaitVisible("nav.desk"))
			do(chromedp.Navigate(linkTo(t, server, address, "/verify?")), chromedp.Click("button.main"),
				chromedp.WaitNotPresent("button.main"))
			require.Contains(t, shown(browser, t), "Your address is verified")

			do(chromedp.Navigate(w.baseURL+"/dashboard/deposits/new"), chromedp.SendKeys("#amount", "300"),
				chromedp.SetValue("#startsOn", "2031-07-01"), chromedp.SetValue("#endsOn", "2031-07-08"),
				chromedp.Click("button.main"), chromedp.WaitVisible("#copy-link"))
			page, err := chromedp.Run(browser, chromedp.Location())
			require.NoError(t, err)
			checkout, err := chromedp.Run(browser, chromedp.Value("#copy-link"))
			require.NoError(t, err)

			do(chromedp.Navigate(checkout), chromedp.SetValue("#firstName", "Grace"), chromedp.SetValue("#lastName", "Hopper"),
				chromedp.SetValue("#email", "grace@example.com"), chromedp.Click("#agree"), chromedp.Click("button.main"),
				chromedp.WaitVisible("#cardNumber"),
				chromedp.SetValue("#cardNumber", "4242424242424242"), chromedp.SetValue("#cardExpiry", "12/34"),
				chromedp.SetValue("#cardCvc", "123"),
				chromedp.Click("button.main"), chromedp.WaitNotPresent("#cardNumber"))

			do(chromedp.Navigate(page), chromedp.Click("#capture a"), chromedp.WaitVisible("#capture-amount"),
				chromedp.SetValue("#capture-amount", "80"), chromedp.Click("#capture-reason-damage"),
				chromedp.SetUploadFiles("#capture-files", []string{photo}),
				chromedp.Click("#capture button"), chromedp.WaitVisible("button.danger"))
			require.Contains(t, shown(browser, t), "Claim €80.00?")
			do(chromedp.Click("button.danger"), chromedp.WaitVisible(".notice"))
			require.Contains(t, shown(browser, t), "You claimed €80.00.")
			require.Contains(t, shown(browser, t), "oven.jpg")

			do(chromedp.Navigate(w.baseURL+"/dashboard/partner"), chromedp.Click("button.danger"),
				chromedp.WaitVisible("button.whole"),
				chromedp.Click("button.whole"), chromedp.WaitNotPresent("button.whole"))
			require.Empty(t, w.accountsLinked(t, "op-"+device))
		})
	}
}

// accountsLinked lists the active links of a number.
func (w *deployment) accountsLinked(t testing.TB, externalID string) []struct{ AccountID string } {
	t.Helper()
	var found struct{ Data []struct{ AccountID string } }
	w.api(t).get("/accounts?status=active&externalId="+externalID, &found)
	return found.Data
}
