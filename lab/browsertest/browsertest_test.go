package browsertest_test

import (
	"os"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/backing"
	"partnerdeposits/lab/browsertest"
)

func TestMain(m *testing.M) { os.Exit(backing.RunTests(m)) }

func TestWithoutScript_PagesRunNone(t *testing.T) {
	t.Parallel()
	const page = "data:text/html,<title>still</title><script>document.title='changed'</script>"
	title := func(steps ...chromedp.Action[chromedp.Void]) string {
		browser := browsertest.New(t)
		require.NoError(t, chromedp.Do(browser, append(steps, chromedp.Navigate(page))...))
		title, err := chromedp.Run(browser, chromedp.Evaluate[string]("document.title"))
		require.NoError(t, err)
		return title
	}
	require.Equal(t, "changed", title())
	require.Equal(t, "still", title(browsertest.DisableScripts))
}
