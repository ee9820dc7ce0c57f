package connect_test

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/core/site"
	"partnerdeposits/core/twofactor"
	"partnerdeposits/lab/connecttest"
)

// withCodes gives an operator whose two-factor codes are on.
func withCodes(t *testing.T, s *connecttest.Server, email string) *connecttest.AuthenticatorApp {
	t.Helper()
	b := s.NewBrowser(t)
	require.Equal(t, http.StatusSeeOther, b.Submit("/register", signup(email)).Status)
	return b.EnableTOTP(s)
}

// half gives a browser whose password was right and whose code is missing, and the page for the code.
func half(t *testing.T, s *connecttest.Server, email, query string) (*connecttest.Browser, connecttest.Answer) {
	t.Helper()
	b := s.NewBrowser(t)
	sent := b.Submit("/login"+query, map[string]string{"email": email, "password": password})
	require.Equal(t, http.StatusSeeOther, sent.Status, sent.Body)
	require.Equal(t, "/login/code"+query, sent.Location)
	require.Nil(t, sent.Cookie("session"))
	page := b.Get(sent.Location)
	require.Equal(t, http.StatusOK, page.Status, page.Body)
	return b, page
}

func signedIn(b *connecttest.Browser) bool { return b.Get("/dashboard").Status == http.StatusOK }

func TestCode_OfTheApp_CompletesALogIn_Once(t *testing.T) {
	s, app := coded(t)
	first, page := half(t, s, "a@b.example", "")
	code := app.NextCode()
	require.False(t, signedIn(first))
	done := first.Send(page, 0, map[string]string{"code": code})
	require.Equal(t, http.StatusSeeOther, done.Status, done.Body)
	require.Equal(t, "/dashboard", done.Location)
	require.True(t, signedIn(first))
	require.Zero(t, s.Count("half_sign_ins", ""))
	require.Zero(t, s.Count("code_tries", "tries > 0"), "a right code is no try")
	thief, page := half(t, s, "a@b.example", "")
	refused := thief.Send(page, 0, map[string]string{"code": code})
	require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
	require.Equal(t, "wrong_code", refused.ErrorCode())
	require.False(t, signedIn(thief))
	earlier := thief.Send(refused, 0, map[string]string{"code": app.CodeAt(-1)})
	require.Equal(t, http.StatusUnprocessableEntity, earlier.Status, "a code from before the last one")
}

func TestCode_AtOnceInManyBrowsers_OpensOneSession(t *testing.T) {
	s, app := coded(t)
	code := app.NextCode()
	var browsers [4]*connecttest.Browser
	var pages [4]connecttest.Answer
	for i := range browsers {
		browsers[i], pages[i] = half(t, s, "a@b.example", "")
	}
	var statuses [4]int
	var wg sync.WaitGroup
	for i := range browsers {
		wg.Go(func() { statuses[i] = browsers[i].Send(pages[i], 0, map[string]string{"code": code}).Status })
	}
	wg.Wait()
	won := 0
	for _, status := range statuses {
		if status == http.StatusSeeOther {
			won++
		} else {
			require.Equal(t, http.StatusUnprocessableEntity, status)
		}
	}
	require.Equal(t, 1, won)
}

func TestCode_Recovery_WorksOnce_AndTheOperatorIsTold(t *testing.T) {
	s, app := coded(t)
	b, page := half(t, s, "a@b.example", "")
	require.Equal(t, http.StatusSeeOther,
		b.Send(page, 0, map[string]string{"code": strings.ToUpper(app.Recovery[3])}).Status)
	require.True(t, signedIn(b))
	require.Equal(t, 1, s.Count("mails", "recipient = 'a@b.example' AND subject = 'A recovery code was used'"))
	require.Equal(t, 1, s.Count("audit_log", "action = 'operator.use_recovery_code'"))

	again, page := half(t, s, "a@b.example", "")
	require.Equal(t, "numeric", page.InputAttribute("code", "inputmode"))
	page = again.Get(page.LinkURLByPrefix("/login/code?recovery="))
	require.Empty(t, page.InputAttribute("code", "inputmode"), "letters for a recovery code")
	require.Empty(t, page.LinkURLByPrefix("/login/code?recovery="))
	refused := again.Send(page, 0, map[string]string{"code": app.Recovery[3]})
	require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
	require.False(t, signedIn(again))
	require.Equal(t, http.StatusSeeOther, again.Send(refused, 0, map[string]string{"code": app.Recovery[4]}).Status)
}

// A code of another operator is none. Every refusal has the same text, so that a page tells nobody whether a code was
// near.
func TestCode_Refusals_ReadAlike(t *testing.T) {
	s, app := coded(t)
	used := app.Code() // confirmed the app
	other := withCodes(t, s, "c@d.example")
	var texts []string
	for _, code := range []string{used, app.WrongCode(), "aaaa-aaaa-aaaa-aaaa", other.NextCode(), other.Recovery[0]} {
		b, page := half(t, s, "a@b.example", "")
		b.From = ""
		refused := b.Send(page, 0, map[string]string{"code": code})
		require.Equal(t, http.StatusUnprocessableEntity, refused.Status, code)
		require.False(t, signedIn(b))
		texts = append(texts, refused.ElementText("main"))
	}
	require.Equal(t, 20, s.Count("recovery_codes", "used_at IS NULL"))
	for _, text := range texts {
		require.Equal(t, texts[0], text)
	}
}

func TestCode_AfterFiveWrongOnes_OfANetwork_Waits(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{Counted: true})
	app := withCodes(t, s, "a@b.example")
	b, logIn := from(t, s, "192.0.2.1")
	require.Equal(t, "/login/code", logIn("a@b.example", password).Location)
	page := b.Get("/login/code")
	for i := range twofactor.MaxTriesPerNetwork {
		require.Equal(t, "wrong_code", b.Send(page, 0, map[string]string{"code": app.WrongCode()}).ErrorCode(), i)
	}
	refused := b.Send(page, 0, map[string]string{"code": app.NextCode()})
	require.Equal(t, http.StatusTooManyRequests, refused.Status, "the right code is refused, too")
	require.Equal(t, "too_many_codes", refused.ErrorCode())
	require.NotEmpty(t, refused.Header.Get("Retry-After"))
	require.False(t, signedIn(b))

	home, logIn := from(t, s, "198.51.100.7")
	require.Equal(t, "/login/code", logIn("a@b.example", password).Location)
	require.Equal(t, http.StatusSeeOther, home.Send(home.Get("/login/code"), 0,
		map[string]string{"code": app.Code()}).Status, "another network is not locked out")

	s.Clock.Add(twofactor.NetworkTriesWindow)
	b, logIn = from(t, s, "192.0.2.1")
	require.Equal(t, "/login/code", logIn("a@b.example", password).Location)
	require.Equal(t, http.StatusSeeOther, b.Send(b.Get("/login/code"), 0, map[string]string{"code": app.Code()}).Status)
}

// Tries count in Postgres: a brute force that comes while Redis is away is bounded, and so is one that sends everything
// at once.
func TestCode_ManyTriesAtOnce_WithoutRedis_AreBounded(t *testing.T) {
	s, app := coded(t)
	b, page := half(t, s, "a@b.example", "")
	token, wrong := page.InputAttribute("csrf_token", "value"), app.WrongCode()
	var mu sync.Mutex
	seen := map[int]int{}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			status := b.Post("/login/code", url.Values{"csrf_token": {token}, "code": {wrong}}).Status
			mu.Lock()
			defer mu.Unlock()
			seen[status]++
		})
	}
	wg.Wait()
	require.Equal(t, map[int]int{http.StatusUnprocessableEntity: twofactor.MaxTriesPerNetwork,
		http.StatusTooManyRequests: 20 - twofactor.MaxTriesPerNetwork}, seen)
}

func TestCode_FromManyNetworks_IsBoundedForAll_ButForThoseThatSignedInBefore(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{Counted: true})
	home := s.NewBrowser(t)
	home.From = "198.51.100.7"
	require.Equal(t, http.StatusSeeOther, home.Submit("/register", signup("a@b.example")).Status)
	app := home.EnableTOTP(s)
	wrong := app.WrongCode()
	try := func(address, code string) int {
		b, logIn := from(t, s, address)
		require.Equal(t, "/login/code", logIn("a@b.example", password).Location)
		return b.Send(b.Get("/login/code"), 0, map[string]string{"code": code}).Status
	}
	for i := range twofactor.MaxTriesOverall {
		require.Equal(t, http.StatusUnprocessableEntity, try("192.0.2."+strconv.Itoa(i), wrong), i)
	}
	require.Equal(t, http.StatusTooManyRequests, try("203.0.113.1", app.NextCode()))
	require.Equal(t, http.StatusSeeOther, try("198.51.100.7", app.Code()), "the operator's own network")
}

// everybody are the pages that need no session. Every other page that is mounted needs one.
var everybody = []string{
	site.RegisterPath, site.LogInPath, site.TwoFactorCodePath, site.LogOutPath, site.ConnectDonePath,
	site.VerifyEmailPath, site.ForgotPasswordPath, site.ResetPasswordPath, ui.StylesheetPath, site.FaviconPath,
	site.CaughtMailsPath, site.CaughtMailPath, site.CaughtMailHTMLPath,
}

// The token of a half sign-in opens nothing: neither as it is, nor in the place of a session.
func TestHalfSignIn_OpensNoPageAndNoAct(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	withCodes(t, s, "a@b.example")
	b, _ := half(t, s, "a@b.example", "")
	sent := b.Submit("/login", map[string]string{"email": "a@b.example", "password": password})
	token := sent.Cookie("half")
	require.NotNil(t, token)
	require.True(t, token.HttpOnly)
	require.Equal(t, int(twofactor.HalfSignInLifetime/time.Second), token.MaxAge)
	for _, as := range []string{"half", "session"} {
		closed := 0
		for _, r := range s.Routes {
			if slices.Contains(everybody, r.Path) || strings.HasPrefix(r.Path, "/styleguide") {
				continue
			}
			closed++
			const none = "00000000000000000000000000"
			path := strings.NewReplacer(":id", "dep_"+none, ":fileId", "fil_"+none).Replace(r.Path)
			form := strings.NewReader("intent=enable_totp")
			request, err := http.NewRequestWithContext(t.Context(), r.Method, s.URL+path, form)
			require.NoError(t, err)
			request.AddCookie(&http.Cookie{Name: as, Value: token.Value})
			request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			answer := s.NewBrowser(t).Do(request)
			require.Equal(t, http.StatusSeeOther, answer.Status, "%s %s as %s", r.Method, path, as)
			leads, _, _ := strings.Cut(answer.Location, "?next=%2Fdashboard%2F")
			require.Equal(t, site.LogInPath, leads, "%s %s as %s", r.Method, path, as)
		}
		require.Greater(t, closed, 10)
	}
	require.Zero(t, s.Count("second_factors", "confirmed_at IS NULL"))
}

func TestEveryPage_HasStrictHeaders(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	b := s.NewBrowser(t)
	require.Equal(t, http.StatusSeeOther, b.Submit(site.RegisterPath, signup("a@b.example")).Status)
	pages := 0
	for _, r := range s.Routes {
		file := strings.HasPrefix(r.Path, site.AssetsPath) || r.Path == site.FaviconPath || strings.HasSuffix(r.Path, ".css")
		if r.Method != http.MethodGet || file {
			continue
		}
		answer := b.Get(r.Path)                          // a value that names nothing is answered with a page, too
		policy := "default-src 'none'; style-src 'self'" // of Headers; answers without it have another
		require.Contains(t, answer.Header.Get("Content-Security-Policy"), policy, r.Path)
		answer.RequireNoForeignScript(t, r.Path)
		require.Equal(t, "no-store", answer.Header.Get("Cache-Control"), r.Path)
		require.Equal(t, "no-referrer", answer.Header.Get("Referrer-Policy"), r.Path)
		require.Equal(t, "nosniff", answer.Header.Get("X-Content-Type-Options"), r.Path)
		pages++
	}
	require.Greater(t, pages, 15)
}

func TestHalfSignIn_EndsAfterFiveMinutes_AndWithAnotherPassword(t *testing.T) {
	s, app := coded(t)
	late, page := half(t, s, "a@b.example", "")
	s.Clock.Add(twofactor.HalfSignInLifetime)
	sent := late.Send(page, 0, map[string]string{"code": app.Code()})
	require.Equal(t, "/login", sent.Location)
	require.False(t, signedIn(late))
	require.Equal(t, "/login", late.Get("/login/code").Location)

	b, page := half(t, s, "a@b.example", "")
	_, err := s.Pool.Exec(t.Context(), "UPDATE operators SET password_hash = 'of another password'")
	require.NoError(t, err)
	require.Equal(t, "/login", b.Send(page, 0, map[string]string{"code": app.NextCode()}).Location)
	require.False(t, signedIn(b))
}

func TestCode_WithoutAHalfSignIn_OrFromElsewhere_IsRefused(t *testing.T) {
	s, app := coded(t)
	stranger := s.NewBrowser(t)
	require.Equal(t, "/login?lang=fr", stranger.Get("/login/code?lang=fr").Location)
	token := stranger.Get("/login").InputAttribute("csrf_token", "value")
	require.Equal(t, "/login",
		stranger.Post("/login/code", url.Values{"csrf_token": {token}, "code": {app.NextCode()}}).Location)

	b, page := half(t, s, "a@b.example", "")
	require.Equal(t, "invalid_csrf_token",
		b.Post("/login/code", url.Values{"csrf_token": {"x"}, "code": {app.Code()}}).ErrorCode())
	values := url.Values{"csrf_token": {page.InputAttribute("csrf_token", "value")}, "code": {app.Code()}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/login/code",
		strings.NewReader(values.Encode()))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Origin", "https://evil.example")
	require.Equal(t, "invalid_csrf_token", b.Do(request).ErrorCode())
	require.False(t, signedIn(b))
	require.Equal(t, http.StatusSeeOther, b.Send(page, 0, map[string]string{"code": app.Code()}).Status,
		"the code was not used up")
}

func TestCode_KeepsTheConnectURL_AndLinksOnlyAfterTheCode(t *testing.T) {
	s := demo(t)
	app := withCodes(t, s, "a@b.example")
	app.NextCode()
	query := "?" + good(s, "demo", "op-1", "&return_url="+url.QueryEscape("https://pms.example/back?x=1"))
	b, page := half(t, s, "a@b.example", query)
	require.Contains(t, page.ElementText("main"), "Partner demo")
	require.Contains(t, page.Header.Get("Content-Security-Policy"), "form-action 'self' https://pms.example")
	require.Zero(t, s.Count("account_links", ""))
	wrong := b.Send(page, 0, map[string]string{"code": app.WrongCode()})
	require.Equal(t, http.StatusUnprocessableEntity, wrong.Status)
	require.Zero(t, s.Count("account_links", ""))
	done := b.Send(wrong, 0, map[string]string{"code": app.Code()})
	require.Equal(t, http.StatusSeeOther, done.Status, done.Body)
	require.Equal(t, 1, s.Count("account_links", "external_id = 'op-1'"))
	require.True(t, strings.HasPrefix(done.Location, "https://pms.example/back?x=1&connectStatus=linked&"), done.Location)
	require.True(t, signedIn(b))
}

func TestCode_GoesToNoOtherSite(t *testing.T) {
	s, app := coded(t)
	for _, query := range []string{
		"?return_url=https://evil.example", "?next=https://evil.example", "?//evil.example",
		"?redirect=//evil.example&partner=demo",
	} {
		b := s.NewBrowser(t)
		sent := b.Submit("/login", map[string]string{"email": "a@b.example", "password": password})
		require.Equal(t, "/login/code", sent.Location)
		token := b.Get("/login/code").InputAttribute("csrf_token", "value")
		done := b.Post("/login/code"+query, url.Values{"csrf_token": {token}, "code": {app.NextCode()}})
		if done.Status == http.StatusSeeOther {
			require.True(t, done.Location == "/dashboard" || strings.HasPrefix(done.Location, "/login?"), done.Location)
		}
		require.NotContains(t, strings.Split(done.Location, "?")[0], "evil")
	}
}

func TestCode_TheSessionIsNew_AndThatOfTheBrowserEnds(t *testing.T) {
	s, app := coded(t)
	b := s.NewBrowser(t)
	require.Equal(t, http.StatusSeeOther, b.Submit("/register", signup("c@d.example")).Status)
	require.True(t, signedIn(b), "somebody else's session was planted")
	token := b.Get("/dashboard").InputAttribute("csrf_token", "value")
	require.Equal(t, "/login/code",
		b.Post("/login", url.Values{"csrf_token": {token}, "email": {"a@b.example"}, "password": {password}}).Location)
	done := b.Send(b.Get("/login/code"), 0, map[string]string{"code": app.NextCode()})
	require.NotNil(t, done.Cookie("session"))
	require.Contains(t, b.Get("/dashboard").Body, "a@b.example")
	require.Zero(t, s.Count("sessions s JOIN operators o ON o.id = s.operator_id", "o.email = 'c@d.example'"))
}
