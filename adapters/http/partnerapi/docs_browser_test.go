package partnerapi_test

import (
	"context"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/docs"
	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/lab/browsertest"
)

// newDocs starts the API with its page, and opens the page in a browser.
func newDocs(t *testing.T) (c *caller, account string, browser context.Context) {
	t.Helper()
	w := newWorldWith(t, func(app *fiber.App, deps *partnerapi.Deps) {
		doc, err := partnerapi.Document()
		require.NoError(t, err)
		page, err := docs.New(doc, apiBase, true)
		require.NoError(t, err)
		page.Register(app)
	})
	c = w.caller(t, "acme")
	account = c.link("hotel-1")
	browser = browsertest.New(t)
	require.NoError(t, chromedp.Do(browser, chromedp.Navigate(w.url+"/docs"), chromedp.WaitVisible(".search input")))
	return c, account, browser
}

func evaluated[T any](browser context.Context, t *testing.T, expression string) T {
	t.Helper()
	value, err := chromedp.Run(browser, chromedp.Evaluate[T](expression))
	require.NoError(t, err)
	return value
}

func TestDocsPage_SearchLeadsToTheRoute(t *testing.T) {
	t.Parallel()
	_, _, browser := newDocs(t)
	const titles = `[...document.querySelectorAll(".search li b")].map((b) => b.textContent)`

	require.NoError(t, chromedp.Do(browser, chromedp.KeyEvent("/"), chromedp.KeyEvent("rotate secret"),
		chromedp.WaitVisible(".search li a")))
	require.Equal(t, "Rotate a signing secret", evaluated[[]string](browser, t, titles)[0])
	require.NoError(t, chromedp.Do(browser, chromedp.KeyEvent("\r")))
	require.Equal(t, "#rotateWebhookSecret", evaluated[string](browser, t, "location.hash"))
	require.Equal(t, true, evaluated[bool](browser, t, `document.querySelector(".search ol").hidden`))

	search := func(text string) []string {
		evaluated[string](browser, t, `document.querySelector(".search input").value = ""`)
		require.NoError(t, chromedp.Do(browser, chromedp.SendKeys(".search input", text)))
		return evaluated[[]string](browser, t, titles)
	}
	require.Equal(t, "webhook_limit_reached", search("webhook_limit_reached")[0])
	require.Contains(t, search("checkoutExpiresAt"), "Retrieve a deposit")
	require.Empty(t, search("xylophone"))
	require.Equal(t, "Nothing found",
		evaluated[string](browser, t, `document.querySelector(".search [role=status]").textContent`))
}

// open opens the form of a route and types a key.
func open(operation, key string) chromedp.Action[chromedp.Void] {
	field := "#" + operation + " .try [name=key]"
	return chromedp.Steps(
		chromedp.Click("#"+operation+" .try summary"),
		chromedp.WaitVisible(field),
		chromedp.SendKeys(field, key),
	)
}

func TestDocsPage_TryIt_SendsTheRequestOfTheReader(t *testing.T) {
	t.Parallel()
	c, account, browser := newDocs(t)
	require.NoError(t, chromedp.Do(browser,
		open("getMe", c.key),
		chromedp.Click("#getMe .try button"),
		chromedp.WaitVisible("#getMe .outcome pre"),
	))
	answer := evaluated[string](browser, t, `document.querySelector("#getMe .outcome").innerText`)
	require.Contains(t, answer, "200 in ")
	require.Contains(t, answer, `"slug": "acme"`)
	require.Contains(t, answer, "RateLimit: ")

	// The tab keeps the key. The example is a valid request once the account is the reader's own.
	body := `document.querySelector("#createDeposit [name=body]")`
	require.NoError(t, chromedp.Do(browser,
		chromedp.Click("#createDeposit .try summary"),
		chromedp.WaitVisible("#createDeposit [name=body]"),
	))
	require.Equal(t, c.key, evaluated[string](browser, t, `document.querySelector("#createDeposit [name=key]").value`))
	evaluated[string](browser, t,
		body+`.value = JSON.stringify({...JSON.parse(`+body+`.value), accountId: "`+account+`", clientId: undefined})`)
	require.NoError(t, chromedp.Do(browser,
		chromedp.Click("#createDeposit .try button"),
		chromedp.WaitVisible("#createDeposit .outcome .fine"),
		chromedp.Click("#createDeposit .try button"), // the same Idempotency-Key
		chromedp.WaitVisible("#createDeposit .outcome .fine"),
	))
	_, err := chromedp.Run(browser, chromedp.Poll[bool](
		`document.querySelector("#createDeposit .outcome").innerText.includes("Idempotent-Replayed: true")`))
	require.NoError(t, err)
	require.Len(t, c.get("/deposits").list(), 1)
}

func TestDocsPage_TryIt_SendsNoLiveKey(t *testing.T) {
	t.Parallel()
	c, _, browser := newDocs(t)
	live := "svc_pk_live_" + c.key[len("svc_pk_test_"):]
	for _, key := range []string{live, "nonsense"} {
		require.NoError(t, chromedp.Do(browser,
			chromedp.Navigate(c.url+"/docs"),
			open("listAccounts", key),
			chromedp.Click("#listAccounts .try button"),
			chromedp.WaitVisible("#listAccounts .outcome .refused"),
		))
		require.Equal(t, 0, evaluated[int](browser, t, "sessionStorage.length + localStorage.length"))
		require.Equal(t, "", evaluated[string](browser, t, `document.querySelector("#listAccounts [name=key]").value`))
		require.Equal(t, 0, evaluated[int](browser, t,
			`performance.getEntriesByType("resource").filter((r) => r.name.includes("/api/")).length`))
	}
}
