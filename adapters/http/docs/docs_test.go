package docs_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/docs"
	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/lab/docstest"
	"partnerdeposits/lab/servetest"
)

const baseURL = "https://api.staging.example"

func serve(t *testing.T) string {
	t.Helper()
	return serveAs(t, true)
}

func serveAs(t *testing.T, tryIt bool, egress ...string) string {
	t.Helper()
	doc, err := partnerapi.OpenAPIDocument()
	require.NoError(t, err)
	app := fiber.New(middleware.FiberConfig(middleware.ServerConfig{}))
	app.Use(middleware.SecurityHeaders(false))
	docs.New(doc, baseURL, tryIt).AddEgressRanges(egress).Mount(app)
	return "http://" + servetest.ServeApp(t, app)
}

func get(t *testing.T, url string, header ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	req.Header.Set("Accept-Encoding", "identity")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	var r io.Reader = res.Body
	if res.Header.Get("Content-Encoding") == "gzip" {
		r, err = gzip.NewReader(res.Body)
		require.NoError(t, err)
	}
	body, err := io.ReadAll(r)
	require.NoError(t, err)
	return res, string(body)
}

func TestOpenAPI_IsTheDocumentForThisInstallation(t *testing.T) {
	t.Parallel()
	res, body := get(t, serve(t)+"/openapi.json")
	require.Equal(t, 200, res.StatusCode)
	require.Equal(t, "application/json", res.Header.Get("Content-Type"))
	var doc struct {
		OpenAPI string                 `json:"openapi"`
		Servers []struct{ URL string } `json:"servers"`
	}
	require.NoError(t, json.Unmarshal([]byte(body), &doc))
	require.Equal(t, "3.1.0", doc.OpenAPI)
	require.Equal(t, baseURL, doc.Servers[0].URL)
	require.NotContains(t, body, "api.example.com/api/partner/v1/me")
}

func TestPage_ShowsEveryOperationFieldAndCode(t *testing.T) {
	t.Parallel()
	doc, err := partnerapi.OpenAPIDocument()
	require.NoError(t, err)
	url := serve(t)
	res, html := get(t, url+"/docs/reference")
	require.Equal(t, "text/html; charset=utf-8", res.Header.Get("Content-Type"))
	for path, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			require.Contains(t, html, `<article id="`+op.OperationID+`">`, path)
			require.Contains(t, html, op.Summary)
		}
	}
	for _, code := range doc.Components.Schemas["ErrorCode"].Value.Enum {
		require.Contains(t, html, `id="code-`+code.(string)+`"`)
	}
	for name := range doc.Components.Schemas["Deposit"].Value.Properties {
		require.Contains(t, html, `<code class="name">`+name+`</code>`)
	}
	require.NotContains(t, html, "{base_url}")
	_, html = get(t, url+"/docs/events")
	for event := range doc.Webhooks {
		require.Contains(t, html, `<article id="event-`+event+`">`)
		require.Contains(t, html, `<span class="s">&#34;`+event+`&#34;</span>`, "its body")
	}
}

func TestPage_Examples_CanBeCopied(t *testing.T) {
	t.Parallel()
	_, html := get(t, serve(t)+"/docs/reference")
	require.Contains(t, html, strings.Join([]string{
		`curl -X POST \`,
		`  https://api.staging.example/api/partner/v1/deposits/dep_01jb2m4q8e7w9x3c5v6b7n8m9a/capture \`,
		`  -H &#34;x-api-key: $API_KEY&#34; \`,
		`  -H &#34;Idempotency-Key: $(uuidgen -r)&#34; \`,
		`  -H &#34;Content-Type: application/json&#34; \`,
		`  -d &#39;{`,
		`  &#34;amount&#34;: 180.5,`,
	}, "\n"))
	require.Contains(t, html, "curl https://api.staging.example/api/partner/v1/me \\\n")
}

// The page keeps the order of openapi.yaml, which puts the most important operations first.
func TestPage_KeepsTheOrderOfTheFile(t *testing.T) {
	t.Parallel()
	_, html := get(t, serve(t)+"/docs/reference")
	at := -1
	for _, mark := range []string{
		`id="introduction"`, `id="authentication"`, `id="error-codes"`, `<article id="getMe"`, `<article id="listAccounts"`,
		`<article id="createWebhook"`, `<article id="listWebhooks"`, `<article id="createClient"`,
		`<article id="createDeposit"`, `<article id="simulateDeposit"`,
	} {
		i := strings.Index(html, mark)
		require.Greater(t, i, at, mark)
		at = i
	}
	body := html[strings.Index(html, `<article id="createDeposit"`):]
	require.Less(t, strings.Index(body, `<code class="name">accountId`), strings.Index(body, `<code class="name">amount`))
	require.Less(t, strings.Index(body, `<code class="name">amount`),
		strings.Index(body, `<code class="name">contractStartAt`))
	require.Less(t, strings.Index(body, `<span class="k">&#34;id&#34;`),
		strings.Index(body, `<span class="k">&#34;depositUrl&#34;`))
}

// paths lists the paths of all pages of the site.
func paths(t *testing.T, url string) (all []string) {
	t.Helper()
	_, html := get(t, url+"/docs")
	nav := html[strings.Index(html, "<nav"):strings.Index(html, "</nav>")]
	for _, l := range regexp.MustCompile(`href="(/docs[^"#]*)"`).FindAllStringSubmatch(nav, -1) {
		all = append(all, l[1])
	}
	require.Greater(t, len(all), 5)
	return all
}

func TestPages_LoadNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	url := serve(t)
	for _, path := range paths(t, url) {
		res, html := get(t, url+path)
		require.Equal(t, 200, res.StatusCode, path)
		csp := res.Header.Get("Content-Security-Policy")
		require.Contains(t, csp, "default-src 'none'")
		require.NotContains(t, csp, "unsafe")
		require.NotContains(t, csp, "http")
		require.NotRegexp(t, `<[^>]+ (style|on[a-z]+)=`, html)
		require.NotRegexp(t, `<(script|style)[^>]*>[^<]`, html)
		require.NotContains(t, html, "{base_url}")
		require.NotContains(t, html, "ZgotmplZ")

		links := loaded.FindAllStringSubmatch(html, -1)
		require.Len(t, links, 4)
		for _, l := range links {
			res, body := get(t, url+l[1])
			require.Equal(t, 200, res.StatusCode, l[1])
			require.NotEmpty(t, body)
			require.Contains(t, res.Header.Get("Cache-Control"), "immutable")
			require.NotRegexp(t, `https?://|@import|url\(`, body)
		}
	}
}

// loaded finds the addresses of the scripts, styles and pictures that a page loads.
var loaded = regexp.MustCompile(`(?:src|rel="stylesheet" href)="([^"]+)"`)

func TestPages_LinksLeadToAnchorsThatExist_AndIDsAreThereOnce(t *testing.T) {
	t.Parallel()
	url := serve(t)
	ids := map[string]map[string]bool{} // by path
	links := map[string][]string{}
	all := paths(t, url)
	for _, path := range all {
		_, html := get(t, url+path)
		ids[path] = map[string]bool{"": true}
		for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(html, -1) {
			require.False(t, ids[path][m[1]], "%s: the id %s is there twice", path, m[1])
			ids[path][m[1]] = true
		}
		for _, l := range regexp.MustCompile(`<a [^>]*href="([^"]+)"`).FindAllStringSubmatch(html, -1) {
			links[path] = append(links[path], l[1])
		}
	}
	_, entries := get(t, url+"/docs/entries.js")
	for _, l := range regexp.MustCompile(`"href":"([^"]+)"`).FindAllStringSubmatch(entries, -1) {
		links["search"] = append(links["search"], l[1])
	}
	for from, list := range links {
		for _, to := range list {
			path, anchor, _ := strings.Cut(to, "#")
			if path == "" {
				path = from
			}
			if !strings.HasPrefix(path, "/docs") || strings.HasSuffix(path, ".md") {
				continue
			}
			require.Contains(t, all, path, from)
			require.True(t, ids[path][anchor], "%s leads to %s, which is not there", from, to)
		}
	}
}

// Anchors of the page of requests that stood at /docs before: in mails, bookmarks and the header Link.
func TestHome_HasEveryAnchorThatItEverHad(t *testing.T) {
	t.Parallel()
	url := serve(t)
	_, home := get(t, url+"/docs")
	_, requests := get(t, url+"/docs/reference")
	main := requests[strings.Index(requests, "<main"):]
	old := []string{"changes", "since-22-november-2026", "event-depositEvent", "event-rentalOperatorLinked"}
	for _, m := range regexp.MustCompile(`<(?:section|article|tr) id="([^"]+)"`).FindAllStringSubmatch(main, -1) {
		old = append(old, m[1])
	}
	require.Greater(t, len(old), 80)
	for _, id := range old {
		require.Contains(t, home, ` id="`+id+`"`)
	}
}

func TestPages_AreMarkdownToo(t *testing.T) {
	t.Parallel()
	url := serve(t)
	_, llms := get(t, url+"/llms.txt")
	require.True(t, strings.HasPrefix(llms, "# Partner API\n\n> Secure rental deposits"), llms)
	for _, path := range paths(t, url) {
		file := path + ".md"
		if path == "/docs" {
			file = "/docs/index.md"
		} else {
			require.Contains(t, llms, "]("+baseURL+file+"): ")
		}
		res, text := get(t, url+file)
		require.Equal(t, "text/markdown; charset=utf-8", res.Header.Get("Content-Type"))
		require.True(t, strings.HasPrefix(text, "# "), path)
		require.NotContains(t, text, "<!--")
		for _, l := range regexp.MustCompile(`\]\(([a-z-]+\.md)`).FindAllStringSubmatch(text, -1) {
			res, _ := get(t, url+"/docs/"+l[1])
			require.Equal(t, 200, res.StatusCode, "%s leads to %s", file, l[1])
		}
		_, html := get(t, url+path)
		require.Contains(t, html, `<link rel="alternate" type="text/markdown" href="`+file+`">`)
	}
	_, same := get(t, url+"/docs/llms.txt")
	require.Equal(t, llms, same)
}

// The page of webhooks links to the files that partners copy; the site shows them whole, since it has no other copy.
func TestPages_OfWebhooks_ShowTheFilesToCopy(t *testing.T) {
	t.Parallel()
	url := serve(t)
	_, html := get(t, url+"/docs/webhooks")
	_, text := get(t, url+"/docs/webhooks.md")
	for name, mark := range map[string]string{
		"verify.php": "php", "verify.mjs": "js", "verify.py": "python", "verify/verify.go": "go",
	} {
		file := docstest.ReadFile(t, "sdk/verify/"+path.Base(name))
		require.Contains(t, text, "\n```"+mark+" "+name+"\n"+file+"```\n")
		require.Contains(t, html, `<p class="file">`+name+`</p>`)
	}
	require.NotContains(t, text, "](../../sdk/verify/")
}

// A route that is added to openapi.yaml is on every part of the site without a line by hand.
func TestSite_ShowsARouteThatWasAdded(t *testing.T) {
	t.Parallel()
	doc, err := partnerapi.LoadOpenAPIDocument()
	require.NoError(t, err)
	added := *doc.Paths.Value("/api/partner/v1/accounts").Get
	added.OperationID, added.Summary, added.Description = "listLighthouses", "List lighthouses", "Lists what shines."
	doc.Paths.Set("/api/partner/v1/lighthouses", &openapi3.PathItem{Get: &added})
	app := fiber.New(middleware.FiberConfig(middleware.ServerConfig{}))
	docs.New(doc, baseURL, true).Mount(app)
	url := "http://" + servetest.ServeApp(t, app)
	for path, want := range map[string]string{
		"/docs":              `<a id="listLighthouses" href="/docs/reference#listLighthouses">`,
		"/docs/reference":    `<article id="listLighthouses">`,
		"/docs/reference.md": "### List lighthouses\n\n`GET /api/partner/v1/lighthouses`\n\nLists what shines.\n",
		"/docs/entries.js":   `{"href":"/docs/reference#listLighthouses","title":"List lighthouses","route":"GET /api/partner/v1/lighthouses"`,
		"/openapi.json":      `"operationId":"listLighthouses"`,
	} {
		_, body := get(t, url+path)
		require.Contains(t, body, want, path)
	}
}

func TestFiles_AreCompressedAndRevalidated(t *testing.T) {
	t.Parallel()
	url := serve(t)
	for _, path := range []string{"/docs/reference", "/docs/webhooks.md", "/openapi.json", "/openapi-3.0.json"} {
		plain, body := get(t, url+path)
		require.Empty(t, plain.Header.Get("Content-Encoding"))
		zipped, same := get(t, url+path, "Accept-Encoding", "gzip, br")
		require.Equal(t, "gzip", zipped.Header.Get("Content-Encoding"))
		require.Equal(t, body, same)
		require.Less(t, zipped.ContentLength, plain.ContentLength/2)

		res, empty := get(t, url+path, "If-None-Match", plain.Header.Get("ETag"))
		require.Equal(t, 304, res.StatusCode)
		require.Empty(t, empty)
	}
}

// Production has live keys only, so the page calls nothing there.
func TestPage_InProduction_SendsNothing(t *testing.T) {
	t.Parallel()
	staging := serve(t)
	res, html := get(t, staging+"/docs/reference")
	require.Contains(t, res.Header.Get("Content-Security-Policy"), "connect-src 'self'")
	require.Regexp(t, `src="/docs/try-[0-9a-f]+\.js"`, html)
	require.Contains(t, html, ` data-path="/api/partner/v1/deposits"`)

	production := serveAs(t, false)
	res, html = get(t, production+"/docs/reference")
	require.NotContains(t, res.Header.Get("Content-Security-Policy"), "connect-src")
	require.NotContains(t, html, "/docs/try-")
	require.NotContains(t, html, "data-path")
}

// A page, with its stylesheet and scripts, stays small: the promise is 100 KB.
func TestPages_AreSmall(t *testing.T) {
	t.Parallel()
	url := serve(t)
	for _, path := range append(paths(t, url), "/docs/entries.js") {
		page, html := get(t, url+path, "Accept-Encoding", "gzip")
		sum := page.ContentLength
		for _, l := range loaded.FindAllStringSubmatch(html, -1) {
			res, _ := get(t, url+l[1], "Accept-Encoding", "gzip")
			sum += res.ContentLength
		}
		t.Logf("%s: %d bytes", path, sum)
		require.Positive(t, sum)
		require.Less(t, sum, int64(100_000), path)
	}
}
