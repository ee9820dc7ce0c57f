package docs_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/docs"
	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/lab/servetest"
)

const baseURL = "https://api.staging.example"

func serve(t *testing.T) string {
	t.Helper()
	return serveAs(t, true)
}

func serveAs(t *testing.T, tryIt bool) string {
	t.Helper()
	doc, err := partnerapi.Document()
	require.NoError(t, err)
	d, err := docs.New(doc, baseURL, tryIt)
	require.NoError(t, err)
	app := fiber.New(middleware.FiberConfig(middleware.ServerConfig{}))
	app.Use(middleware.SecurityHeaders(false))
	d.Register(app)
	return "http://" + servetest.Serve(t, app)
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
	doc, err := partnerapi.Document()
	require.NoError(t, err)
	res, html := get(t, serve(t)+"/docs")
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
	require.Contains(t, html, `id="event-depositEvent"`)
	require.Contains(t, html, `id="event-rentalOperatorLinked"`)
	require.NotContains(t, html, "{base_url}")
	require.NotContains(t, html, "ZgotmplZ")
}

func TestPage_Examples_CanBeCopied(t *testing.T) {
	t.Parallel()
	_, html := get(t, serve(t)+"/docs")
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
	_, html := get(t, serve(t)+"/docs")
	at := -1
	for _, mark := range []string{
		`id="introduction"`, `id="authentication"`, `id="error-codes"`, `<article id="getMe"`, `<article id="listAccounts"`,
		`<article id="createWebhook"`,
		`<article id="event-depositEvent"`, `<article id="listWebhooks"`, `<article id="createClient"`,
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

func TestPage_LoadsNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	url := serve(t)
	res, html := get(t, url+"/docs")
	csp := res.Header.Get("Content-Security-Policy")
	require.Contains(t, csp, "default-src 'none'")
	require.NotContains(t, csp, "unsafe")
	require.NotContains(t, csp, "http")
	require.NotRegexp(t, `<[^>]+ (style|on[a-z]+)=`, html)
	require.NotRegexp(t, `<(script|style)[^>]*>[^<]`, html)

	links := regexp.MustCompile(`(?:src|<link[^>]* href)="([^"]+)"`).FindAllStringSubmatch(html, -1)
	require.Len(t, links, 4)
	for _, l := range links {
		res, body := get(t, url+l[1])
		require.Equal(t, 200, res.StatusCode, l[1])
		require.NotEmpty(t, body)
		require.Contains(t, res.Header.Get("Cache-Control"), "immutable")
		require.NotRegexp(t, `https?://|@import|url\(`, body)
	}
	for _, l := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(html, -1) {
		require.Contains(t, html, `id="`+l[1]+`"`)
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(html, -1) {
		require.False(t, ids[m[1]], "the id %s is there twice", m[1])
		ids[m[1]] = true
	}
}

func TestFiles_AreCompressedAndRevalidated(t *testing.T) {
	t.Parallel()
	url := serve(t)
	for _, path := range []string{"/docs", "/openapi.json", "/openapi-3.0.json"} {
		plain, body := get(t, url+path)
		require.Empty(t, plain.Header.Get("Content-Encoding"))
		zipped, same := get(t, url+path, "Accept-Encoding", "gzip, br")
		require.Equal(t, "gzip", zipped.Header.Get("Content-Encoding"))
		require.Equal(t, body, same)
		require.Less(t, zipped.ContentLength, plain.ContentLength/4)

		res, empty := get(t, url+path, "If-None-Match", plain.Header.Get("ETag"))
		require.Equal(t, 304, res.StatusCode)
		require.Empty(t, empty)
	}
}

// Production has live keys only, so the page calls nothing there.
func TestPage_InProduction_SendsNothing(t *testing.T) {
	t.Parallel()
	staging := serve(t)
	res, html := get(t, staging+"/docs")
	require.Contains(t, res.Header.Get("Content-Security-Policy"), "connect-src 'self'")
	require.Regexp(t, `src="/docs/try-[0-9a-f]+\.js"`, html)
	require.Contains(t, html, ` data-path="/api/partner/v1/deposits"`)

	production := serveAs(t, false)
	res, html = get(t, production+"/docs")
	require.NotContains(t, res.Header.Get("Content-Security-Policy"), "connect-src")
	require.NotContains(t, html, "/docs/try-")
	require.NotContains(t, html, "data-path")
	require.Contains(t, html, `id="changes"`)
}

// The page, with its stylesheet and scripts, stays small: the promise is 100 KB.
func TestPage_IsSmall(t *testing.T) {
	t.Parallel()
	url := serve(t)
	page, html := get(t, url+"/docs", "Accept-Encoding", "gzip")
	sum := page.ContentLength
	for _, l := range regexp.MustCompile(`(?:src|<link[^>]* href)="([^"]+)"`).FindAllStringSubmatch(html, -1) {
		res, _ := get(t, url+l[1], "Accept-Encoding", "gzip")
		sum += res.ContentLength
	}
	t.Logf("%d bytes", sum)
	require.Positive(t, sum)
	require.Less(t, sum, int64(100_000))
}
