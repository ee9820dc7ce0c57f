package connect_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/partner"
	"partnerdeposits/lab/connecttest"
)

func TestEveryPage_CarriesTheSecurityHeadersAndALanguage(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{Environment: partner.EnvironmentProduction})
	s.CreatePartner("demo")
	b := s.NewBrowser(t)
	query := good(s, "demo", "op-1", returnTo("https://pms.example/"))
	answers := map[string]connecttest.Answer{
		"register":         b.Get("/register"),
		"login":            b.Get("/login"),
		"connect":          b.Get("/register?" + query),
		"connect login":    b.Get("/login?" + query),
		"refused link":     b.Get("/register?partner=nobody"),
		"form failed":      b.Submit("/register", map[string]string{"email": "x"}),
		"no token":         b.Post("/register", nil),
		"not found":        b.Get("/nowhere"),
		"wrong method":     b.Post("/dashboard", nil),
		"dashboard closed": b.Get("/dashboard"),
	}
	sent := b.Submit("/register?"+query, signup("a@b.example"))
	answers["redirect"] = sent
	answers["done"] = b.Get(sent.Location)
	answers["dashboard"] = b.Get("/dashboard")
	answers["consent"] = b.Get("/login?" + query)
	for name, a := range answers {
		policy := a.Header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'",
			"form-action 'self'"} {
			require.Contains(t, policy, part, name)
		}
		require.NotContains(t, policy, "unsafe", name)
		require.Equal(t, "nosniff", a.Header.Get("X-Content-Type-Options"), name)
		require.Equal(t, "no-referrer", a.Header.Get("Referrer-Policy"), name)
		require.Equal(t, "no-store", a.Header.Get("Cache-Control"), name)
		require.NotEmpty(t, a.Header.Get("X-Request-Id"), name)
		require.NotContains(t, a.Body, "style=", name)
		require.Empty(t, a.ElementsByTag("script"), name)
		if a.Status != http.StatusSeeOther {
			require.Equal(t, "text/html; charset=utf-8", a.Header.Get("Content-Type"), name)
			require.Equal(t, "en", a.ElementAttribute("html", "lang"), name)
			require.Len(t, a.ElementsByTag("h1"), 1, name)
			require.Len(t, a.ElementsByTag("main"), 1, name)
			require.NotEmpty(t, a.LanguageLinkURL("fr"), name)
		}
	}
	require.Equal(t, "route_not_found", answers["not found"].ErrorCode())
	require.Equal(t, "method_not_allowed", answers["wrong method"].ErrorCode())
	require.Equal(t, "/login", answers["dashboard closed"].Location)
}

// A page that answers a form offers the other language through a page that GET opens.
func TestPagesThatAnswerAForm_OfferTheOtherLanguage(t *testing.T) {
	s := demo(t)
	s.CreatePartner("other")
	signedIn := s.NewBrowser(t)
	require.Equal(t, http.StatusSeeOther,
		signedIn.Submit("/register?"+good(s, "demo", "op-1", ""), signup("a@b.example")).Status)
	refusedOne := s.NewBrowser(t)
	refused := refusedOne.Submit("/login?"+good(s, "other", "op-9", ""), login("a@b.example"))
	require.Equal(t, "account_already_linked", refused.ErrorCode())
	anybody := s.NewBrowser(t)
	for name, c := range map[string]struct {
		by   *connecttest.Browser
		at   string
		page connecttest.Answer
	}{
		"form failed":      {anybody, "/register", anybody.Submit("/register", map[string]string{"email": "x"})},
		"no token":         {anybody, "/login", anybody.Post("/login", nil)},
		"unlink, no token": {signedIn, "/dashboard/unlink", signedIn.Post("/dashboard/unlink", nil)},
		"logout, no token": {signedIn, "/logout", signedIn.Post("/logout", nil)},
		"refused":          {refusedOne, "/login?" + good(s, "other", "op-9", ""), refused},
	} {
		at, err := url.Parse(c.at)
		require.NoError(t, err)
		link, err := at.Parse(c.page.LanguageLinkURL("fr"))
		require.NoError(t, err)
		french := c.by.Get(link.RequestURI())
		require.Contains(t, []int{http.StatusOK, http.StatusConflict}, french.Status, "%s: %s", name, link)
		require.Equal(t, "fr", french.ElementAttribute("html", "lang"), name)
	}
}

func TestFormAction_NamesReturnURLOnlyWhereItIsFollowedWithoutAsking(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{Environment: partner.EnvironmentProduction})
	s.CreatePartner("demo", returningTo("https://pms.example"))
	b := s.NewBrowser(t)
	policy := func(raw string) string {
		return b.Get("/register?" + good(s, "demo", "op-1", returnTo(raw))).Header.Get("Content-Security-Policy")
	}
	require.Contains(t, policy("https://pms.example/x"), "form-action 'self' https://pms.example")
	require.True(t, strings.HasSuffix(policy("https://elsewhere.example/"), "form-action 'self'"))
	failed := b.Send(b.Get("/register?"+good(s, "demo", "op-1", returnTo("https://pms.example/x"))), 0,
		map[string]string{"email": "x"})
	require.Contains(t, failed.Header.Get("Content-Security-Policy"), "form-action 'self' https://pms.example",
		"the form shown again can end there too")
}

func TestForm_ThatFails_IsShownAgainWithWhatWasEntered(t *testing.T) {
	s := demo(t)
	cases := []struct{ name, field, value, code string }{
		{"e-mail with a zero byte", "email", "a\x00@b.example", "invalid_email"},
		{"short password", "password", "ninechars", "invalid_password"},
		{"no company", "companyName", "  ", "invalid_company_name"},
	}
	for _, path := range []string{"/register", "/register?" + good(s, "demo", "op-1", "")} {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				fields := signup("a@b.example")
				fields[c.field] = c.value
				sent := s.NewBrowser(t).Submit(path, fields)
				require.Equal(t, http.StatusUnprocessableEntity, sent.Status)
				require.Equal(t, c.code, sent.ErrorCode())
				require.Equal(t, "true", sent.InputAttribute(c.field, "aria-invalid"))
				require.Equal(t, c.field, sent.AutofocusIDs())
				require.Contains(t, sent.InputAttribute(c.field, "aria-describedby"), c.field+"-error")
				require.Empty(t, sent.InputAttribute("password", "value"))
				if c.field != "email" {
					require.Equal(t, "a@b.example", sent.InputAttribute("email", "value"))
				}
				if c.field != "companyName" {
					require.Equal(t, "Chalets du Lac", sent.InputAttribute("companyName", "value"))
				}
				require.Nil(t, sent.Cookie("session"))
			})
		}
	}
	require.Zero(t, s.Count("operators", ""))
}

func TestPrefill_IsShownAsTextWhateverItHolds(t *testing.T) {
	s := demo(t)
	b := s.NewBrowser(t)
	for _, evil := range []string{
		`"><script>alert(1)</script>`, `' onfocus=alert(1) autofocus x='`, `</title><script>alert(1)</script>`,
		`javascript:alert(1)`, `<img src=x onerror=alert(1)>`, "\u2028</input>", `{{7*7}}`,
	} {
		escaped := url.QueryEscape(evil)
		for _, path := range []string{"/register", "/login"} {
			page := b.Get(path + "?" +
				good(s, "demo", evil, "&email="+escaped+"&name="+escaped+"&x="+escaped+returnTo("https://pms.example/?"+escaped)))
			require.Equal(t, http.StatusOK, page.Status)
			require.Equal(t, evil, page.InputAttribute("email", "value"))
			if path == "/register" {
				require.Equal(t, evil, page.InputAttribute("companyName", "value"))
			}
			require.Empty(t, page.ElementsByTag("script"))
			require.Empty(t, page.ElementsByTag("img"))
			for _, input := range page.ElementsByTag("input") {
				for _, a := range input.Attr {
					require.False(t, strings.HasPrefix(a.Key, "on"), a.Key)
				}
			}
		}
		require.Empty(t, b.Get(`/register?partner=`+escaped+`&x="><script>`).ElementsByTag("script"))
		sent := b.Submit("/register", map[string]string{"email": evil, "companyName": evil, "password": "short"})
		require.Equal(t, strings.TrimSpace(evil), sent.InputAttribute("email", "value"))
		require.Empty(t, sent.ElementsByTag("script"))
	}
	// A company name like that goes through, and shows as text afterwards too.
	evil := `<script>alert(1)</script>`
	fields := signup("x@y.example")
	fields["companyName"] = evil
	b.Submit("/register?"+good(s, "demo", evil, ""), fields)
	for _, path := range []string{"/dashboard", "/dashboard/partner"} {
		home := b.Get(path)
		require.Equal(t, http.StatusOK, home.Status)
		require.Empty(t, home.ElementsByTag("script"))
		require.Contains(t, home.Body, "&lt;script&gt;")
	}
}

func TestPosts_WithoutTheTokenOfTheirPage_ChangeNothing(t *testing.T) {
	s := demo(t)
	query := "?" + good(s, "demo", "op-1", "")
	b := s.NewBrowser(t)
	other := s.NewBrowser(t).Get("/register").InputAttribute("csrf_token", "value")
	b.Get("/register")
	for _, token := range []string{"", "x", other, strings.Repeat("0", 64)} {
		for _, path := range []string{"/register", "/login", "/register" + query, "/login" + query} {
			values := url.Values{"email": {"a@b.example"}, "password": {password}, "companyName": {"C"}}
			if token != "" {
				values.Set("csrf_token", token)
			}
			sent := b.Post(path, values)
			require.Equal(t, http.StatusForbidden, sent.Status)
			require.Equal(t, "invalid_csrf_token", sent.ErrorCode())
			require.Equal(t, path, sent.LinkURLByPrefix("/"), "the way back to the form")
			require.Equal(t, 403,
				b.Post(path+map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")]+"csrf_token="+token, values).Status)
		}
	}
	require.Zero(t, s.Count("operators", ""))

	b.Submit("/register"+query, signup("a@b.example"))
	home := b.Get("/dashboard/partner")
	link := home.InputAttribute("link", "value")
	for path, values := range map[string]url.Values{
		"/logout":            {},
		"/dashboard/unlink":  {"link": {link}, "csrf_token": {other}},
		"/dashboard/partner": {"link": {link}, "intent": {"unlink"}, "confirm": {"yes"}, "csrf_token": {other}},
		"/login" + query:     {"intent": {"link"}},
	} {
		require.Equal(t, http.StatusForbidden, b.Post(path, values).Status, path)
	}
	require.Equal(t, 1, s.Count("sessions", ""))
	require.Equal(t, 1, s.Count("account_links", "revoked_at IS NULL"))

	// With the right token but from another site.
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/logout",
		strings.NewReader(url.Values{"csrf_token": {home.InputAttribute("csrf_token", "value")}}.Encode()))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Sec-Fetch-Site", "cross-site")
	require.Equal(t, http.StatusForbidden, b.Do(req).Status)
}

func TestPrefill_NeverReplacesWhatWasPosted(t *testing.T) {
	s := demo(t)
	sent := s.NewBrowser(t).Submit("/register?"+good(s, "demo", "op-1",
		"&email=prefilled%40x.example&companyName=Query&password=query-password"), signup("typed@x.example"))
	require.Equal(t, http.StatusSeeOther, sent.Status)
	require.Equal(t, 1, s.Count("operators", "email = 'typed@x.example'"))
	require.Equal(t, 1, s.Count("accounts", "company_name = 'Chalets du Lac'"))
}

func TestCookies_OverHTTPS_AreBoundToTheHost(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{DashboardURL: "https://dash.example"})
	b := s.NewBrowser(t)
	page := b.Get("/register?lang=fr")
	form := page.Cookie("__Host-form")
	require.NotNil(t, form)
	require.True(t, form.Secure && form.HttpOnly && form.Path == "/" && form.Domain == "" && form.MaxAge == 0)
	require.Equal(t, http.SameSiteLaxMode, form.SameSite)
	require.NotNil(t, page.Cookie("__Host-lang"))

	// Go's cookie jar keeps Secure cookies from http, as a browser would: they are carried by hand.
	values := url.Values{"email": {"a@b.example"}, "password": {password}, "companyName": {"C"},
		"csrf_token": {page.InputAttribute("csrf_token", "value")}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/register",
		strings.NewReader(values.Encode()))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Cookie", form.Name+"="+form.Value)
	sent := b.Do(req)
	require.Equal(t, http.StatusSeeOther, sent.Status, sent.Body)
	session := sent.Cookie("__Host-session")
	require.NotNil(t, session)
	require.True(t, session.Secure && session.HttpOnly && session.Path == "/" && session.Domain == "")
	require.Equal(t, http.SameSiteLaxMode, session.SameSite)
	require.Equal(t, int((14 * 24 * time.Hour).Seconds()), session.MaxAge)
	require.Len(t, session.Value, 43, "32 random bytes")
	require.True(t, sent.Cookie("__Host-form").Expires.Before(s.Clock.Now()))
	require.Zero(t, s.Count("sessions", "encode(token_hash, 'escape') LIKE '%"+session.Value+"%'"))
}

func TestSession_IsNewAtEachLoginAndEndsAfterFourteenDays(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	b := s.NewBrowser(t)
	b.Submit("/register", signup("a@b.example"))
	require.Equal(t, 1, s.Count("sessions", ""))
	// A session known before, planted or not, is worth nothing after a log-in in the same browser.
	before := b.Get("/dashboard")
	token := before.InputAttribute("csrf_token", "value")
	sent := b.Post("/login", url.Values{"csrf_token": {token}, "email": {"a@b.example"}, "password": {password}})
	require.Equal(t, http.StatusSeeOther, sent.Status)
	require.Equal(t, 1, s.Count("sessions", ""), "the old one is gone")
	require.Equal(t, http.StatusForbidden, b.Post("/logout", url.Values{"csrf_token": {token}}).Status,
		"and so are its forms")
	require.Equal(t, http.StatusOK, b.Get("/dashboard").Status)
	require.Equal(t, "/dashboard", b.Get("/login").Location, "who is signed in needs no login page")
	s.Clock.Add(14*24*time.Hour + time.Second)
	require.Equal(t, "/login", b.Get("/dashboard").Location)
}

func TestLogout_EndsTheSession(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	b := s.NewBrowser(t)
	b.Submit("/register", signup("a@b.example"))
	page := b.Get("/dashboard")
	sent := b.Send(page, len(page.ElementsByTag("form"))-1, nil) // the form at the foot
	require.Equal(t, "/login", sent.Location)
	require.True(t, sent.Cookie("session").Expires.Before(s.Clock.Now()))
	require.Zero(t, s.Count("sessions", ""))
	require.Equal(t, "/login", b.Get("/dashboard").Location)
}

func TestPages_SpeakTheReadersLanguage(t *testing.T) {
	s := demo(t)
	b := s.NewBrowser(t)
	french := b.Get("/register?" + good(s, "demo", "op-1", "&lang=fr"))
	require.Equal(t, "fr", french.ElementAttribute("html", "lang"))
	require.Contains(t, french.Body, "Créez votre compte et reliez-le à Partner demo")
	require.Equal(t, "fr", b.Get("/login").ElementAttribute("html", "lang"), "remembered")
	refused := b.Get("/login?partner=nobody")
	require.Contains(t, refused.Body, "Partenaire inconnu")
	require.Equal(t, "en", b.Get("/login?lang=en").ElementAttribute("html", "lang"))
}
