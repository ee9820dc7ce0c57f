package account_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/connecttest"
	"partnerdeposits/lab/servicetest"
)

func TestMain(m *testing.M) { servicetest.RunTests(m) }

const password = "correct horse battery"

// mailing serves the pages with a mail server and real limits.
func mailing(t *testing.T) *connecttest.Server {
	t.Helper()
	return connecttest.New(t, connecttest.Options{Mails: true, Counted: true})
}

func signUp(t *testing.T, s *connecttest.Server, b *connecttest.Browser, email string) {
	t.Helper()
	sent := b.Submit("/register", map[string]string{"email": email, "password": password, "companyName": "Chalets"})
	require.Equal(t, http.StatusSeeOther, sent.Status, sent.Body)
}

var link = regexp.MustCompile(`https?://[^/\s]+(/(?:verify|password/reset)\?token=[A-Za-z0-9_-]{43})\n`)

// mailed gives the path of the newest link that was mailed to an address.
func mailed(t *testing.T, s *connecttest.Server, to string) string {
	t.Helper()
	all := s.ListMails(to)
	for i := len(all) - 1; i >= 0; i-- {
		if found := link.FindStringSubmatch(all[i].Body); found != nil {
			return found[1]
		}
	}
	require.Fail(t, "no link was mailed to "+to)
	return ""
}

// forgot asks for a password and lets the dispatcher answer.
func forgot(t *testing.T, s *connecttest.Server, b *connecttest.Browser, email string) connecttest.Answer {
	t.Helper()
	sent := b.Submit("/password/forgot", map[string]string{"email": email})
	_, err := s.Operators.MailPasswordResets(t.Context())
	require.NoError(t, err)
	return sent
}

func TestVerify_TheMailsLinkShowsAButtonAndTheButtonVerifies(t *testing.T) {
	t.Parallel()
	s := mailing(t)
	b := s.NewBrowser(t)
	signUp(t, s, b, "a@b.example")
	path := mailed(t, s, "a@b.example")
	require.Zero(t, s.Count("mails", "body LIKE '%token=%'"), "the text is encrypted at rest")
	for range 3 {
		page := s.NewBrowser(t).Get(path)
		require.Equal(t, http.StatusOK, page.Status)
		require.Contains(t, page.Body, "a@b.example")
	}
	require.Zero(t, s.Count("operators", "verified_at IS NOT NULL"), "a GET changes nothing")
	require.Contains(t, b.Get("/dashboard").Body, "We mailed a link to a@b.example")

	done := b.Submit(path, nil) // one click in the browser of the account
	require.Equal(t, http.StatusOK, done.Status, done.Body)
	require.Contains(t, done.Body, "Your address is verified")
	require.Equal(t, 1, s.Count("operators", "verified_at IS NOT NULL"))
	require.Equal(t, 1, s.Count("audit_log", "action = 'operator.verify_email'"))
	require.NotContains(t, b.Get("/dashboard").Body, "We mailed a link to")

	again := s.NewBrowser(t).Get(path)
	require.Equal(t, http.StatusGone, again.Status)
	require.Equal(t, "link_void", again.ErrorCode())
}

// A stranger may have signed up with the address: a click by the owner of its mailbox must not verify the stranger's
// account.
func TestVerify_InABrowserOfNobodyOrOfAnother_AsksForThePasswordOfTheAccount(t *testing.T) {
	t.Parallel()
	s := mailing(t)
	signUp(t, s, s.NewBrowser(t), "a@b.example")
	path := mailed(t, s, "a@b.example")
	other := s.NewBrowser(t)
	signUp(t, s, other, "c@d.example")
	for name, b := range map[string]*connecttest.Browser{"nobody": s.NewBrowser(t), "another operator": other} {
		page := b.Get(path)
		require.Equal(t, "password", page.InputAttribute("password", "type"), name)
		require.NotEmpty(t, page.LinkURLByPrefix("/password/forgot"), name)
		for given, message := range map[string]string{"": "Enter the password of the account.",
			"wrong password": "This is not the password of the account."} {
			refused := b.Send(page, page.FormIndexByPath("/verify"), map[string]string{"password": given})
			require.Equal(t, http.StatusUnprocessableEntity, refused.Status, name)
			require.Equal(t, "password", refused.AutofocusIDs(), name)
			require.Equal(t, "bad_credentials", refused.ErrorCode())
			require.Contains(t, refused.Body, message)
			require.Equal(t, "true", refused.InputAttribute("password", "aria-invalid"))
			require.NotEmpty(t, refused.InputAttribute("token", "value"), "the form can be sent again")
		}
		fr := b.Get(path + "&lang=fr")
		require.Contains(t, fr.Body, "Mot de passe du compte")
		require.Contains(t, b.Send(fr, fr.FormIndexByPath("/verify"), map[string]string{"password": "non"}).Body,
			"Ce n’est pas le mot de passe du compte.")
	}
	require.Zero(t, s.Count("operators", "verified_at IS NOT NULL"))

	phone := s.NewBrowser(t)
	page := phone.Get(path)
	done := phone.Send(page, 0, map[string]string{"password": password})
	require.Equal(t, http.StatusOK, done.Status, done.Body)
	require.Nil(t, done.Cookie("session"), "the mail logs nobody in")
	require.Equal(t, 1, s.Count("operators", "verified_at IS NOT NULL AND email = 'a@b.example'"))
}

func TestVerify_ANewAddressInAnotherBrowser_AsksForThePasswordToo(t *testing.T) {
	t.Parallel()
	s := mailing(t)
	b := s.NewBrowser(t)
	signUp(t, s, b, "a@b.example")
	settings := b.Get("/dashboard/settings")
	require.Equal(t, http.StatusSeeOther, b.Send(settings, settings.FormIndexByIntent("change_email"),
		map[string]string{"email": "new@b.example", "currentPassword": password}).Status)
	path := mailed(t, s, "new@b.example")
	phone := s.NewBrowser(t)
	require.Equal(t, "bad_credentials", phone.Submit(path, map[string]string{"password": "wrong password"}).ErrorCode())
	require.Zero(t, s.Count("operators", "email = 'new@b.example'"))
	require.Equal(t, http.StatusOK, phone.Submit(path, map[string]string{"password": password}).Status)
	require.Equal(t, 1, s.Count("operators", "email = 'new@b.example' AND verified_at IS NOT NULL"))
}

// The tries count as failed log-ins of the address, and against the network.
func TestVerify_WrongPasswords_CountAsLogIns(t *testing.T) {
	t.Parallel()
	s := mailing(t)
	signUp(t, s, s.NewBrowser(t), "a@b.example")
	path := mailed(t, s, "a@b.example")
	var last connecttest.Answer
	for i := range 101 {
		b := s.NewBrowser(t)
		b.From = fmt.Sprintf("192.0.2.%d", i)
		last = b.Submit(path, map[string]string{"password": "wrong password"})
	}
	require.Equal(t, http.StatusTooManyRequests, last.Status)
	b := s.NewBrowser(t)
	b.From = "203.0.113.7"
	require.Equal(t, "rate_limited", b.Submit("/login",
		map[string]string{"email": "a@b.example", "password": password}).ErrorCode(), "one count with the log-in")
	require.Zero(t, s.Count("operators", "verified_at IS NOT NULL"))
}

func TestReset_TheMailsLinkSetsAPassword(t *testing.T) {
	t.Parallel()
	s := mailing(t)
	b, stranger := s.NewBrowser(t), s.NewBrowser(t)
	signUp(t, s, b, "a@b.example")
	signUp(t, s, stranger, "c@d.example")
	verify := mailed(t, s, "a@b.example")
	fresh := s.NewBrowser(t)
	require.NotEmpty(t, fresh.Get("/login").LinkURLByPrefix("/password/forgot"))
	sent := forgot(t, s, fresh, "A@b.example")
	require.Equal(t, http.StatusSeeOther, sent.Status)
	require.Contains(t, fresh.Get(sent.Location).Body, "Look into your mailbox")
	path := mailed(t, s, "a@b.example")
	before := s.Count("operators", "password_hash <> ''")
	for range 3 {
		require.Equal(t, http.StatusOK, fresh.Get(path).Status)
	}
	require.Equal(t, before, s.Count("operators", "password_hash <> ''"))
	require.Equal(t, http.StatusOK, b.Get("/dashboard").Status, "a GET changes nothing")

	short := fresh.Submit(path, map[string]string{"password": "short"})
	require.Equal(t, http.StatusUnprocessableEntity, short.Status)
	require.Equal(t, "password", short.AutofocusIDs())
	require.Equal(t, "true", short.InputAttribute("password", "aria-invalid"))
	require.NotContains(t, short.Body, "short")
	done := fresh.Send(short, 0, map[string]string{"password": "another password"})
	require.Equal(t, "/login?done=reset", done.Location, done.Body)
	require.Contains(t, fresh.Get(done.Location).Body, "Your new password is saved")
	require.Equal(t, "/login", b.Get("/dashboard").Location, "every session has ended")
	require.Equal(t, http.StatusOK, stranger.Get("/dashboard").Status)
	told := s.ListMails("a@b.example")
	require.Contains(t, told[len(told)-1].Subject, "Your password was changed")
	require.Equal(t, 1, s.Count("audit_log", "action = 'operator.change_password'"))
	require.Equal(t, "bad_credentials",
		fresh.Submit("/login", map[string]string{"email": "a@b.example", "password": password}).ErrorCode())
	require.Equal(t, "/dashboard",
		fresh.Submit("/login", map[string]string{"email": "a@b.example", "password": "another password"}).Location)
	require.NotContains(t, fresh.Get("/dashboard").Body, "We mailed a link to", "the link went to the address")
	for _, ended := range []string{path, verify} {
		require.Equal(t, http.StatusGone, s.NewBrowser(t).Get(ended).Status, "earlier links end with the change")
	}
}

var (
	formTokens = regexp.MustCompile(`name="csrf_token" value="[0-9a-f]+"`)
	addresses  = regexp.MustCompile(`(a|nobody)@b\.example`)
)

// same is what an answer says, without the token of its form and the address that the reader entered.
func same(a connecttest.Answer) string {
	return fmt.Sprint(a.Status, a.Location, a.Header.Get("Retry-After") != "",
		addresses.ReplaceAllString(formTokens.ReplaceAllString(a.Body, ""), ""))
}

func TestLoginAndForgot_AnswerAlikeForKnownAndUnknownAddresses(t *testing.T) {
	t.Parallel()
	s := mailing(t)
	signUp(t, s, s.NewBrowser(t), "a@b.example")
	for _, c := range []struct {
		path   string
		fields map[string]string
	}{
		{"/password/forgot", map[string]string{}},
		{"/login", map[string]string{"password": "wrong password"}},
	} {
		known, unknown := s.NewBrowser(t), s.NewBrowser(t)
		known.From, unknown.From = "192.0.2.1", "192.0.2.2"
		for range 12 { // until after the limit
			answer := func(b *connecttest.Browser, email string) string {
				c.fields["email"] = email
				sent := b.Submit(c.path, c.fields)
				if sent.Location != "" {
					return same(sent) + same(b.Get(sent.Location))
				}
				sent.Body = regexp.MustCompile(`req_[0-9A-Za-z]+`).ReplaceAllString(sent.Body, "")
				return same(sent)
			}
			require.Equal(t, answer(known, "a@b.example"), answer(unknown, "nobody@b.example"), c.path)
		}
	}
}

func TestForms_CountAgainstTheLimitOfTheNetwork(t *testing.T) {
	t.Parallel()
	s := mailing(t)
	for path, fields := range map[string]url.Values{
		"/password/forgot": {"email": {"a@b.example"}},
		"/password/reset":  {"token": {strings.Repeat("A", 43)}, "password": {"another password"}},
		"/verify":          {"token": {strings.Repeat("A", 43)}},
		"/register":        {"email": {"x"}},
		"/login":           {"email": {"a@b.example"}, "password": {"x"}},
	} {
		b := s.NewBrowser(t)
		b.From = fmt.Sprintf("192.0.2.%d", len(path))
		fields.Set("csrf_token", b.Get("/login").InputAttribute("csrf_token", "value"))
		for i := range 10 {
			require.NotEqual(t, http.StatusTooManyRequests, b.Post(path, fields).Status, "%s %d", path, i)
		}
		refused := b.Post(path, fields)
		require.Equal(t, http.StatusTooManyRequests, refused.Status, path)
		require.NotEmpty(t, refused.Header.Get("Retry-After"), path)
	}
}

func TestForms_OfAnotherSite_DoNothing(t *testing.T) {
	t.Parallel()
	s := mailing(t)
	b := s.NewBrowser(t)
	signUp(t, s, b, "a@b.example")
	verify := strings.TrimPrefix(mailed(t, s, "a@b.example"), "/verify?token=")
	forgot(t, s, b, "a@b.example")
	reset := strings.TrimPrefix(mailed(t, s, "a@b.example"), "/password/reset?token=")
	csrf := b.Get("/dashboard").InputAttribute("csrf_token", "value")
	for path, fields := range map[string]url.Values{
		"/verify":          {"token": {verify}},
		"/password/forgot": {"email": {"a@b.example"}},
		"/password/reset":  {"token": {reset}, "password": {"another password"}},
	} {
		require.Equal(t, "invalid_csrf_token", b.Post(path, fields).ErrorCode(), path)
		fields.Set("csrf_token", strings.Repeat("0", len(csrf)))
		require.Equal(t, "invalid_csrf_token", b.Post(path, fields).ErrorCode(), path)
		fields.Set("csrf_token", csrf)
		for name, value := range map[string]string{"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, strings.NewReader(fields.Encode()))
			require.NoError(t, err)
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			req.Header.Set(name, value)
			refused := b.Do(req)
			require.Equal(t, "invalid_csrf_token", refused.ErrorCode(), "%s %s", path, name)
			if token := fields.Get("token"); token != "" {
				require.NotContains(t, refused.Body, token, path)
			}
		}
	}
	require.Zero(t, s.Count("operators", "verified_at IS NOT NULL"))
	require.Zero(t, s.Count("password_requests", ""))
	require.Equal(t, http.StatusOK, b.Get("/dashboard").Status, "the password stands, and so does the session")
}

// A page sets no cookie that an attacker could plant, sends nobody elsewhere, and keeps the token from other sites.
func TestPages_KeepTheTokenAndLeadNowhereElse(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{Mails: true, DashboardURL: "https://desk.example"})
	b := s.NewBrowser(t)
	sent := b.Get("/register")
	require.NotNil(t, sent.Cookie("__Host-form"), "over https")
	for _, path := range []string{"/verify?token=x&next=https://evil.example", "/password/forgot?next=//evil.example",
		"/password/reset?token=x&return=https://evil.example", "/login?done=https://evil.example"} {
		page := b.Get(path)
		for _, a := range page.ElementsByTag("a") {
			for _, attribute := range a.Attr {
				if attribute.Key == "href" {
					require.True(t, strings.HasPrefix(attribute.Val, "/") && !strings.HasPrefix(attribute.Val, "//") ||
						strings.HasPrefix(attribute.Val, "?") || strings.HasPrefix(attribute.Val, "#"), "%s: %s", path, attribute.Val)
				}
			}
		}
		require.Equal(t, "no-referrer", page.Header.Get("Referrer-Policy"))
		require.Equal(t, "no-store", page.Header.Get("Cache-Control"))
		require.Contains(t, page.Header.Get("Content-Security-Policy"), "form-action 'self'")
		require.NotContains(t, page.Header.Get("Content-Security-Policy"), "unsafe")
	}
}
