package ui_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
)

type fixedEntropy struct{}

func (fixedEntropy) NewID() id.ID       { return id.ID{1} }
func (fixedEntropy) Bytes(n int) []byte { return make([]byte, n) }

func TestCatalogue_HasEveryTextInBothLanguages(t *testing.T) {
	require.Empty(t, ui.IncompleteTexts())
}

func TestCatalogue_ExplainsEveryErrorAPageCanShow(t *testing.T) {
	for _, f := range []*fault.Error{
		connect.ErrPartnerNotFound, connect.ErrMissingConnectSecret, connect.ErrInvalidSignature, connect.ErrURLExpired,
		connect.ErrAlreadyLinked, connect.ErrExternalIDConflict, connect.ErrEmailTaken, connect.ErrBadCredentials,
		connect.ErrInvalidEmail, connect.ErrInvalidPassword, connect.ErrInvalidCompany,
		fault.ErrInternal, fault.ErrUnavailable, fault.ErrRouteNotFound, fault.ErrMethodNotAllowed,
		fault.ErrPayloadTooLarge, fault.ErrUnsupportedMediaType, fault.ErrRateLimited, ui.ErrInvalidFormToken,
	} {
		require.True(t, ui.HasErrorText(f.Code), f.Code)
	}
}

func TestLangOf_PrefersTheQueryThenTheCookieThenTheHeader(t *testing.T) {
	app := fiber.New(fiber.Config{Immutable: true})
	app.Get("/", func(c *fiber.Ctx) error { return c.SendString(string(ui.LangOf(c))) })
	cases := []struct{ name, query, cookie, header, want string }{
		{"nothing", "", "", "", "en"},
		{"query", "?lang=fr", "lang=en", "en", "fr"},
		{"unknown query", "?lang=de", "lang=fr", "en", "fr"},
		{"cookie", "", "lang=fr", "en", "fr"},
		{"cookie of https", "", "__Host-lang=fr; lang=en", "en", "fr"},
		{"unknown cookie", "", "lang=xx", "fr-CA,en;q=0.5", "fr"},
		{"region", "", "", "fr-FR,fr;q=0.9,en;q=0.8", "fr"},
		{"weights", "", "", "fr;q=0.3, en;q=0.7", "en"},
		{"unknown first", "", "", "de, fr;q=0.5", "fr"},
		{"refused", "", "", "fr;q=0", "en"},
		{"broken weight", "", "", "fr;q=x, en", "en"},
		{"case", "", "", "FR", "fr"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			req := httptest.NewRequest(http.MethodGet, "/"+c.query, nil)
			req.Header.Set("Accept-Language", c.header)
			if c.cookie != "" {
				req.Header.Set("Cookie", c.cookie)
			}
			require.Equal(t, c.want, body(t, app, req))
		})
	}
}

func TestRawQuery_KeepsEveryByteThatAURLMayHold(t *testing.T) {
	app := fiber.New(fiber.Config{Immutable: true})
	app.Get("/", func(c *fiber.Ctx) error { return c.SendString(ui.RawQuery(c)) })
	raw := `a=1&a=2&%zz&;x&b=%2e+%2E&&c=A"<>'` + "`&d"
	req := httptest.NewRequest(http.MethodGet, "/", nil)
	req.RequestURI = "/?" + raw
	require.Equal(t, raw, body(t, app, req))
	req.RequestURI = "/?n=é"
	require.Equal(t, "n=%C3%A9", body(t, app, req))
}

func TestSetFormTargets_NamesTheOriginAndNothingElse(t *testing.T) {
	const base = "default-src 'none'; style-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'"
	cases := map[string]string{
		"https://pms.example/done?x=1":         base + "; form-action 'self' https://pms.example",
		"https://PMS.example:8443/":            base + "; form-action 'self' https://pms.example:8443",
		"http://localhost:3000/cb":             base + "; form-action 'self' http://localhost:3000",
		"https://exämple.fr/":                  base + "; form-action 'self' https://xn--exmple-cua.fr",
		"https://my_host.example/":             base + "; form-action 'self' https://my_host.example",
		"http://[::1]:8080/":                   base,
		"https://a.example;script-src%20*/":    base,
		"https://a.example,default-src/":       base,
		"https://'unsafe-inline'/":             base,
		"https://*.example/":                   base,
		"javascript://pms.example/%0aalert(1)": base,
	}
	for raw, want := range cases {
		u, err := url.Parse(raw)
		if err != nil {
			continue // refused earlier, by returnurl.Parse
		}
		app := fiber.New()
		app.Get("/", func(c *fiber.Ctx) error { ui.SetSecurityHeaders(c); ui.AllowFormRedirects(c, u); return nil })
		res, err := app.Test(httptest.NewRequest(http.MethodGet, "/", nil))
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, want, res.Header.Get("Content-Security-Policy"), raw)
	}
}

func TestCheckForm(t *testing.T) {
	site, err := ui.NewSiteCookies("https://DASH.example:443", fixedEntropy{}, nil)
	require.NoError(t, err)
	app := fiber.New(fiber.Config{Immutable: true})
	app.Get("/", func(c *fiber.Ctx) error { return c.SendString(site.FormToken(c)) })
	app.Post("/", func(c *fiber.Ctx) error {
		if err := site.CheckCSRF(c); err != nil {
			return c.Status(403).SendString("refused")
		}
		return c.SendString("ok")
	})
	res, err := app.Test(httptest.NewRequest(http.MethodGet, "/", nil))
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	token, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	cookie := res.Cookies()[0]
	require.Equal(t, "__Host-form", cookie.Name)
	require.True(t, cookie.Secure && cookie.HttpOnly)
	require.Equal(t, http.SameSiteLaxMode, cookie.SameSite)
	own := cookie.Name + "=" + cookie.Value

	cases := []struct {
		name, token, cookie, origin, site, want string
	}{
		{"as our page sends it", string(token), own, "null", "same-origin", "ok"},
		{"old browser", string(token), own, "https://dash.example", "", "ok"},
		{"no token", "", own, "", "", "refused"},
		{"forged token", strings.Repeat("0", 64), own, "", "", "refused"},
		{"no cookie", string(token), "", "", "", "refused"},
		{"cookie of somebody else", string(token), "__Host-form=" + strings.Repeat("B", 43), "", "", "refused"},
		{"short cookie", site.SignText("x", ui.CSRFFieldName), "__Host-form=x", "", "", "refused"},
		{"cookie without the prefix", string(token), "form=" + cookie.Value, "", "", "refused"},
		{"session instead", site.SignText(strings.Repeat("C", 43), ui.CSRFFieldName), "__Host-session=" + strings.Repeat("C",
			43), "", "", "ok"},
		{"other origin", string(token), own, "https://evil.example", "", "refused"},
		{"cross-site", string(token), own, "", "cross-site", "refused"},
		{"same-site is another host", string(token), own, "", "same-site", "refused"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			req := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(url.Values{ui.CSRFFieldName: {c.token}}.Encode()))
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			for k, v := range map[string]string{"Cookie": c.cookie, "Origin": c.origin, "Sec-Fetch-Site": c.site} {
				if v != "" {
					req.Header.Set(k, v)
				}
			}
			require.Equal(t, c.want, body(t, app, req))
		})
	}
}

func TestErrorPage_CarriesTheCodeAndTheRequestID(t *testing.T) {
	app := fiber.New(fiber.Config{Immutable: true})
	app.Get("/*", func(c *fiber.Ctx) error {
		return ui.RenderProblem(c, problem.ErrorPage{Status: 404, Code: "route_not_found", Message: "<b>",
			RequestID: "req_1"})
	})
	req := httptest.NewRequest(http.MethodGet, `/x?"><script>alert(1)</script>`, nil)
	req.Header.Set("Accept-Language", "fr")
	html := body(t, app, req)
	require.Contains(t, html, `<html lang="fr">`)
	require.Contains(t, html, `data-error-code="route_not_found"`)
	require.Contains(t, html, "req_1")
	require.Contains(t, html, "Page introuvable")
	require.Contains(t, html, `href="/login"`)
	require.NotContains(t, html, "<script")
}

func TestRender_PutsTheFocusIntoTheFirstMistake(t *testing.T) {
	app := fiber.New(fiber.Config{Immutable: true})
	app.Get("/", func(c *fiber.Ctx) error {
		return ui.Render(c, 422, templ.Join(
			ui.Input(ui.Field{Name: "right", Type: "text"}), ui.TextArea(ui.Field{Name: "first", Error: "e"}),
			ui.Input(ui.Field{Name: "second", Type: "text", Error: "e"}), ui.Files(ui.Field{Name: "third", Error: "e"}, "")))
	})
	html := body(t, app, httptest.NewRequest(http.MethodGet, "/", nil))
	require.Equal(t, 1, strings.Count(html, " autofocus"))
	require.Regexp(t, `<textarea[^>]* id="first"[^>]* autofocus`, html)
	again := body(t, app, httptest.NewRequest(http.MethodGet, "/", nil))
	require.Equal(t, html, again, "every page begins anew")
}

func TestErrorPage_LeadsOn(t *testing.T) {
	status := 0
	app := fiber.New(fiber.Config{Immutable: true})
	app.Get("/*", func(c *fiber.Ctx) error {
		return ui.RenderProblem(c, problem.ErrorPage{Status: status, Code: "rate_limited"})
	})
	for _, c := range []struct {
		status      int
		path, leads string
	}{
		{429, "/register?partnerId=x", `class="button main" href="/register?partnerId=x"`},
		{503, "/login", `class="button main" href="/login"`},
		{400, "/register?partnerId=x", `class="button main" href="/login"`},
		{503, "/checkout/t", ""}, {404, "/checkout/t", ""}, {404, "/sandbox/pay/x", ""},
	} {
		status = c.status
		html := body(t, app, httptest.NewRequest(http.MethodGet, c.path, nil))
		if c.leads == "" {
			require.NotContains(t, html, "button", c.path)
		} else {
			require.Contains(t, html, c.leads, c.path)
		}
	}
}

func TestInput_TiesHintAndErrorToTheField(t *testing.T) {
	var b strings.Builder
	f := ui.Field{Name: "email", Type: "email", Label: "E-mail", Value: `"><script>`, Hint: "h", Error: "e",
		Required: true, Autofocus: true}
	require.NoError(t, ui.Input(f).Render(context.Background(), &b))
	require.Contains(t, b.String(), `aria-describedby="email-error email-hint"`)
	require.Contains(t, b.String(), `aria-invalid="true"`)
	require.Contains(t, b.String(), ` required autofocus`)
	require.NotContains(t, b.String(), "<script")
	b.Reset()
	require.NoError(t,
		ui.Input(ui.Field{Name: "password", Type: "password", Value: "hunter22222"}).Render(context.Background(), &b))
	require.NotContains(t, b.String(), "hunter22222")
}

func TestNetworkOf_FoldsIPv6AddressesOfOneSubscriber(t *testing.T) {
	t.Parallel()
	for ip, want := range map[string]string{
		"192.0.2.7":            "192.0.2.7",
		"::ffff:192.0.2.7":     "::ffff:192.0.2.7",
		"2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
		"2001:db8:1:2::1":      "2001:db8:1:2::/64",
		"fe80::1%eth0":         "fe80::/64",
		"":                     "",
		"nonsense":             "nonsense",
	} {
		require.Equal(t, want, ui.NetworkOfIP(ip), ip)
	}
}

func TestStylesheet_IsServedForEver(t *testing.T) {
	app := fiber.New()
	ui.MountAssets(app)
	res, err := app.Test(httptest.NewRequest(http.MethodGet, ui.StylesheetPath, nil))
	require.NoError(t, err)
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, 200, res.StatusCode)
	require.Contains(t, string(text), ".chip")
	require.NotContains(t, string(text), "/*")
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	_, err = w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.Less(t, compressed.Len(), 20_000)
	require.Equal(t, "text/css; charset=utf-8", res.Header.Get("Content-Type"))
	require.Contains(t, res.Header.Get("Cache-Control"), "immutable")
}

func TestFavicon_IsServedWhereBrowsersLookForIt(t *testing.T) {
	app := fiber.New()
	ui.MountAssets(app)
	res, err := app.Test(httptest.NewRequest(http.MethodGet, "/favicon.ico", nil))
	require.NoError(t, err)
	icon, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, 200, res.StatusCode)
	require.Equal(t, "image/x-icon", res.Header.Get("Content-Type"))
	require.Contains(t, res.Header.Get("Cache-Control"), "max-age=86400")
	require.True(t, bytes.HasPrefix(icon, []byte{0, 0, 1, 0, 1, 0}), "an ICO with one picture")
}

func body(t *testing.T, app *fiber.App, req *http.Request) string {
	t.Helper()
	res, err := app.Test(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return string(b)
}
