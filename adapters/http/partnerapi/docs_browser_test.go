package partnerapi_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/docs"
	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/lab/browsertest"
	"partnerdeposits/lab/rarely"
	"partnerdeposits/lab/servetest"
)

const requestsPage = "/docs/reference"

// newSite serves the documentation alone, and opens the page of requests in a browser.
func newSite(t *testing.T, first ...chromedp.Action[chromedp.Void]) (url string, browser context.Context) {
	t.Helper()
	doc, err := partnerapi.OpenAPIDocument()
	require.NoError(t, err)
	app := fiber.New(middleware.FiberConfig(middleware.ServerConfig{}))
	app.Use(middleware.SecurityHeaders(false))
	docs.New(doc, apiBase, true).Mount(app)
	url = "http://" + servetest.ServeApp(t, app)
	return url, opened(t, url, first...)
}

// newDocs starts the API with its documentation, and opens the page of requests in a browser.
func newDocs(t *testing.T, first ...chromedp.Action[chromedp.Void]) (
	c *caller, account string, browser context.Context,
) {
	t.Helper()
	w := newWorldWith(t, func(app *fiber.App, deps *partnerapi.Deps) {
		doc, err := partnerapi.OpenAPIDocument()
		require.NoError(t, err)
		docs.New(doc, apiBase, true).Mount(app)
	})
	c = w.caller(t, "acme")
	account = c.link("hotel-1")
	return c, account, opened(t, w.url, first...)
}

func opened(t *testing.T, url string, first ...chromedp.Action[chromedp.Void]) context.Context {
	t.Helper()
	browser := browsertest.New(t, first...)
	require.NoError(t, chromedp.Do(browser, chromedp.Navigate(url+requestsPage), chromedp.WaitReady("main")))
	return browser
}

func evaluated[T any](browser context.Context, t *testing.T, expression string) T {
	t.Helper()
	value, err := chromedp.Run(browser, chromedp.Evaluate[T](expression))
	require.NoError(t, err)
	return value
}

// becomes waits until an expression is true, on the page that the browser shows by then.
func becomes(browser context.Context, t *testing.T, expression string) {
	t.Helper()
	require.Eventually(t, func() bool {
		is, err := chromedp.Run(browser, chromedp.Evaluate[bool](expression))
		return err == nil && is
	}, 20*time.Second, 10*time.Millisecond, expression)
}

func TestDocs_SearchLeadsToEveryPage(t *testing.T) {
	t.Parallel()
	url, browser := newSite(t)
	const titles = `[...document.querySelectorAll(".search li b")].map((b) => b.textContent)`
	poll := func(expression string) { becomes(browser, t, expression) }

	require.NoError(t, chromedp.Do(browser, chromedp.Navigate(url+"/docs/webhooks"),
		chromedp.WaitVisible(".search input"), chromedp.KeyEvent("/"), chromedp.KeyEvent("rotate secret"),
		chromedp.WaitVisible(".search li a")))
	require.Equal(t, "Rotate a signing secret", evaluated[[]string](browser, t, titles)[0])
	require.NoError(t, chromedp.Do(browser, chromedp.KeyEvent("\r")))
	poll(`location.pathname + location.hash === "/docs/reference#rotateWebhookSecret"`)

	require.NoError(t, chromedp.Do(browser, chromedp.WaitVisible(".search input")))
	search := func(text string) []string {
		evaluated[string](browser, t, `document.querySelector(".search input").value = ""`)
		require.NoError(t, chromedp.Do(browser, chromedp.SendKeys(".search input", text)))
		poll(`document.querySelector(".search [role=status]").textContent !== ""`)
		return evaluated[[]string](browser, t, titles)
	}
	require.Equal(t, "webhook_limit_reached", search("webhook_limit_reached")[0])
	require.Contains(t, search("checkoutExpiresAt"), "Retrieve a deposit")
	require.Contains(t, search("raw body duplicate"), "Steps of a receiver, in this order", "a guide")
	require.Contains(t, search("captured"), "deposit.captured", "an event")
	require.Empty(t, search("xylophone"))
	require.Equal(t, "Nothing found",
		evaluated[string](browser, t, `document.querySelector(".search [role=status]").textContent`))
}

// blocked is the action that lets no request through whose URL fits a pattern.
func blocked(patterns ...*network.BlockPattern) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: patterns})
		return err
	})
}

func TestDocs_SearchWorksAgain_AfterItsEntriesDidNotLoad(t *testing.T) {
	t.Parallel()
	_, browser := newSite(t)
	const says = `document.querySelector(".search [role=status]").textContent`
	entries := &network.BlockPattern{URLPattern: "*://*:*/docs/entries.js", Block: true}
	require.NoError(t, chromedp.Do(browser, blocked(entries), chromedp.WaitVisible(".search input"),
		chromedp.SendKeys(".search input", "rotate")))
	becomes(browser, t, says+` === "Search is not available"`)
	require.NoError(t, chromedp.Do(browser, blocked(), chromedp.SendKeys(".search input", " secret")))
	// The reader types on, since a search that began before the browser lifted its block finds no entries either.
	becomes(browser, t, `document.querySelector(".search input").dispatchEvent(new Event("input")) && `+says+
		`.endsWith(" found")`)
	require.NoError(t, chromedp.Do(browser, chromedp.WaitVisible(".search li a")))
}

// A browser may refuse storage to pages: every access throws.
func TestDocs_WithoutStorage(t *testing.T) {
	t.Parallel()
	refuses := chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
			Source: `for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(window, name, {
				get() { throw new DOMException("refused", "SecurityError"); } });`})
		return err
	})
	c, _, browser := newDocs(t, refuses)
	require.NoError(t, chromedp.Do(browser, chromedp.Navigate(c.url+requestsPage+"?lang=go"), chromedp.WaitReady("main")))
	becomes(browser, t, `document.querySelector("#getMe .of-go").checkVisibility()`)
	becomes(browser, t, `document.querySelector("#getMe [data-copy] button")?.textContent === "Copy"`)
	require.NoError(t, chromedp.Do(browser, chromedp.Click("#getMe .tabs [value=python] + label")))
	becomes(browser, t, `document.querySelector("#createDeposit .of-python").checkVisibility()`)
	require.NoError(t, chromedp.Do(browser, open("getMe", c.key), chromedp.Click("#getMe .try button"),
		chromedp.WaitVisible("#getMe .outcome .fine")))
}

func TestDocs_PagesLookRight(t *testing.T) {
	t.Parallel()
	if !rarely.MustRun(t, rarely.PageTests) {
		return
	}
	pages := map[string]string{"home": "/docs", "guide": "/docs/webhooks", "quickstart": "/docs/quickstart",
		"events": "/docs/events", "errors": "/docs/errors", "list": "/docs/going-live", "start": "/docs/start-php"}
	for scheme, device := range map[string]string{"light": "phone", "dark": "desktop"} {
		t.Run(scheme+"-"+device, func(t *testing.T) {
			t.Parallel()
			url, browser := newSite(t, browsertest.ColorSchemes[scheme]...)
			pages := maps.Clone(pages)
			if device == "phone" { // the others are of the same kinds
				for _, name := range []string{"feed", "connect", "retries", "collections", "testing", "start-node",
					"start-python", "start-go", "changelog"} {
					pages[name] = "/docs/" + name
				}
			}
			for name, path := range pages {
				require.NoError(t, chromedp.Do(browser, browsertest.Viewports[device], chromedp.Navigate(url+path),
					chromedp.WaitVisible("h1")))
				browsertest.RequireUsablePage(browser, t, "docs-"+name+"-"+scheme+"-"+device)
			}
		})
	}
}

// A reader chooses a language once, on any page. The page of requests stood at /docs: a link to a place on it goes on.
func TestDocs_TheLanguageOfSamplesStays_AndOldAnchorsLeadOn(t *testing.T) {
	t.Parallel()
	url, browser := newSite(t)
	const shown = `[...document.querySelectorAll("#createDeposit .tabs > div")].filter((e) => e.checkVisibility()).map((e) => e.className).join()`
	require.Equal(t, "of-curl", evaluated[string](browser, t, shown))
	require.NoError(t, chromedp.Do(browser, chromedp.Click("#getMe .tabs [value=python] + label")))
	becomes(browser, t, shown+` === "of-python"`)
	for old, place := range map[string]string{
		"#createDeposit": "/docs/reference#createDeposit", "#code-rate_limited": "/docs/errors#rate_limited",
		"#changes": "/docs/changelog", "#authentication": "/docs/reference#authentication",
	} {
		require.NoError(t, chromedp.Do(browser, chromedp.Navigate("about:blank"), chromedp.Navigate(url+"/docs"+old)))
		becomes(browser, t, `location.pathname + location.hash === "`+place+`"`)
	}
	require.NoError(t, chromedp.Do(browser, chromedp.Navigate(url+requestsPage), chromedp.WaitReady("main")))
	becomes(browser, t, shown+` === "of-python"`)
	require.NoError(t, chromedp.Do(browser, chromedp.Navigate(url+requestsPage+"?lang=go#createDeposit"),
		chromedp.WaitReady("main")))
	becomes(browser, t, shown+` === "of-go"`)
}

// The tabs are radio buttons, which need no script, and no old anchor is lost.
func TestDocs_WithoutScripts(t *testing.T) {
	t.Parallel()
	url, browser := newSite(t, browsertest.DisableScripts)
	require.NoError(t, chromedp.Do(browser, chromedp.Click("#getMe .tabs [value=node] + label")))
	require.Equal(t, "of-node", evaluated[string](browser, t,
		`[...document.querySelectorAll("#getMe .tabs > div")].filter((e) => e.checkVisibility()).map((e) => e.className).join()`))
	require.NoError(t, chromedp.Do(browser, chromedp.Navigate(url+"/docs#createDeposit"), chromedp.WaitReady("main")))
	require.Equal(t, "/docs/reference#createDeposit", evaluated[string](browser, t,
		`document.querySelector(":target").getAttribute("href")`))
	require.Equal(t, false, evaluated[bool](browser, t, `document.querySelector(".search").checkVisibility()`))
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

	// The tab keeps the key. The example is a valid request, since its account is one of the reader's.
	require.NoError(t, chromedp.Do(browser,
		chromedp.Click("#createDeposit .try summary"),
		chromedp.WaitVisible("#createDeposit [name=body]"),
	))
	require.Equal(t, c.key, evaluated[string](browser, t, `document.querySelector("#createDeposit [name=key]").value`))
	becomes(browser, t, `document.querySelector("#createDeposit [name=body]").value.includes("`+account+`")`)
	require.NoError(t, chromedp.Do(browser,
		chromedp.Click("#createDeposit .try button"),
		chromedp.WaitVisible("#createDeposit .outcome .fine"),
		chromedp.Click("#createDeposit .try button"), // the same Idempotency-Key
		chromedp.WaitVisible("#createDeposit .outcome .fine"),
	))
	becomes(browser, t, `document.querySelector("#createDeposit .outcome").innerText.includes("Idempotent-Replayed: true")`)
	require.Len(t, c.get("/deposits").list(), 1)
}

func TestDocsPage_TryIt_OffersTheIDsOfTheReader(t *testing.T) {
	t.Parallel()
	c, account, browser := newDocs(t)
	older := text(t, c.post("/webhooks", object{"url": "https://93.184.216.34/older"}).ok(201), "id")
	newest := text(t, c.post("/webhooks", object{"url": "https://93.184.216.34/newest"}).ok(201), "id")
	id := func(operation string) string { return `document.querySelector("#` + operation + ` [name$=Id]")` }
	example := "pwh_01jb2m2t8g5j7m9q4s6v1x3z0b"

	require.NoError(t, chromedp.Do(browser, open("getWebhook", c.key), chromedp.KeyEvent("\t")))
	becomes(browser, t, id("getWebhook")+`.value === "`+newest+`"`)
	require.Equal(t, []string{newest, older}, evaluated[[]string](browser, t,
		`[...`+id("getWebhook")+`.list.options].map((option) => option.value)`))
	require.NoError(t, chromedp.Do(browser, chromedp.Click("#getWebhook .try button"),
		chromedp.WaitVisible("#getWebhook .outcome .fine")))

	// A reader who deletes chooses, and what a reader has typed stays.
	require.NoError(t, chromedp.Do(browser, chromedp.Click("#deleteWebhook .try summary"),
		chromedp.WaitVisible("#deleteWebhook .try [name=webhookId]")))
	becomes(browser, t, id("deleteWebhook")+`.list?.options.length === 2`)
	require.Equal(t, example, evaluated[string](browser, t, id("deleteWebhook")+".value"))
	require.NoError(t, chromedp.Do(browser, chromedp.Click("#getAccount .try summary"),
		chromedp.WaitVisible("#getAccount .try [name=accountId]")))
	becomes(browser, t, id("getAccount")+`.value === "`+account+`"`)
	evaluated[string](browser, t, id("getAccount")+`.value = "acct_mine"`)
	require.NoError(t, chromedp.Do(browser, chromedp.Click("#getAccount .try button"),
		chromedp.WaitVisible("#getAccount .outcome .refused")))
	require.Equal(t, "acct_mine", evaluated[string](browser, t, id("getAccount")+".value"))
}

func TestDocsPage_TryIt_SendsNoLiveKey(t *testing.T) {
	t.Parallel()
	c, _, browser := newDocs(t)
	live := "svc_pk_live_" + c.key[len("svc_pk_test_"):]
	for _, key := range []string{live, "nonsense"} {
		require.NoError(t, chromedp.Do(browser,
			chromedp.Navigate(c.url+requestsPage),
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
