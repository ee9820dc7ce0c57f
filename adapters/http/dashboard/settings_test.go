package dashboard_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/connecttest"
)

const secretWord = "correct horse battery"

var mailedLink = regexp.MustCompile(`https?://[^/\s]+(/(?:verify|password/reset)\?token=[A-Za-z0-9_-]{43})\n`)

// mailed gives the path of the newest link that was mailed to an address.
func mailed(t *testing.T, s *connecttest.Server, to string) string {
	t.Helper()
	all := s.ListMails(to)
	for i := len(all) - 1; i >= 0; i-- {
		if found := mailedLink.FindStringSubmatch(all[i].Body); found != nil {
			return found[1]
		}
	}
	require.Fail(t, "no link was mailed to "+to)
	return ""
}

// set sends the form of the settings with that intent.
func set(t *testing.T, b *connecttest.Browser, intent string, fields map[string]string) connecttest.Answer {
	t.Helper()
	page := b.Get("/dashboard/settings")
	require.Equal(t, http.StatusOK, page.Status)
	return b.Send(page, form(t, page, intent), fields)
}

func logIn(t *testing.T, s *connecttest.Server, email, password string) *connecttest.Browser {
	t.Helper()
	b := s.NewBrowser(t)
	require.Equal(t, "/dashboard", b.Submit("/login", map[string]string{"email": email, "password": password}).Location)
	return b
}

func TestSettings_ChangeOfPassword_RenewsTheSessionAndEndsTheOthers(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{Mails: true})
	s.CreatePartner("demo")
	b, _ := linked(t, s, "a@b.example", "demo")
	other := logIn(t, s, "a@b.example", secretWord)
	before := b.Get("/dashboard").InputAttribute("csrf_token", "value")

	wrong := set(t, b, "change_password", map[string]string{"currentPassword": "no", "newPassword": "another password"})
	require.Equal(t, http.StatusUnprocessableEntity, wrong.Status)
	require.Contains(t, wrong.Body, "The current password is wrong.")
	require.Contains(t, wrong.Body, `id="change_password-currentPassword-error"`)
	require.NotContains(t, wrong.Body, `id="change_email-currentPassword-error"`, "the other form with this field")
	short := set(t, b, "change_password", map[string]string{"currentPassword": secretWord, "newPassword": "short"})
	require.Equal(t, http.StatusUnprocessableEntity, short.Status)
	require.NotContains(t, short.Body, secretWord, "no page contains a password")

	sent := set(t, b, "change_password",
		map[string]string{"currentPassword": secretWord, "newPassword": "another password"})
	require.Equal(t, "/dashboard/settings?done=change_password", sent.Location)
	require.NotNil(t, sent.Cookie("session"))
	require.Contains(t, b.Get(sent.Location).Body, "Your password is changed.")
	told := s.ListMails("a@b.example")
	require.Contains(t, told[len(told)-1].Subject, "Your password was changed")
	require.Equal(t, "/login", other.Get("/dashboard").Location)
	require.Equal(t, http.StatusForbidden, b.Post("/logout", url.Values{"csrf_token": {before}}).Status,
		"forms of the session from before are void")
	logIn(t, s, "a@b.example", "another password")
}

func TestSettings_ChangeOfEmail(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{Mails: true})
	s.CreatePartner("demo")
	b, _ := linked(t, s, "a@b.example", "demo")
	linked(t, s, "taken@b.example", "demo")
	other := logIn(t, s, "a@b.example", secretWord)
	before := s.Count("mails", "")
	taken := set(t, b, "change_email", map[string]string{"email": "taken@b.example", "currentPassword": secretWord})
	require.Equal(t, http.StatusConflict, taken.Status)
	require.Contains(t, taken.Body, "Another account has this address.")
	require.Equal(t, "taken@b.example", taken.InputAttribute("email", "value"), "the form keeps what was entered")
	require.Equal(t, before, s.Count("mails", ""))

	sent := set(t, b, "change_email", map[string]string{"email": "new@b.example", "currentPassword": secretWord})
	require.Equal(t, "/dashboard/settings?done=change_email", sent.Location)
	require.Contains(t, b.Get(sent.Location).Body, "a@b.example", "nothing has changed yet")
	told := s.ListMails("a@b.example")
	require.Contains(t, told[len(told)-1].Subject, "Your e-mail address is about to change")
	path := mailed(t, s, "new@b.example")
	require.Contains(t, b.Get(path).Body, "new@b.example becomes the address of your account")
	done := b.Submit(path, nil)
	require.Equal(t, http.StatusOK, done.Status)
	require.NotNil(t, done.Cookie("session"), "the session of this browser began anew")
	require.Equal(t, 1, s.Count("operators", "email = 'new@b.example' AND verified_at IS NOT NULL"))
	told = s.ListMails("a@b.example")
	require.Contains(t, told[len(told)-1].Subject, "Your e-mail address was changed")
	require.Contains(t, b.Get("/dashboard/settings").Body, "new@b.example")
	require.Equal(t, "/login", other.Get("/dashboard").Location)
	logIn(t, s, "new@b.example", secretWord)
}

func TestSettings_CompanyAndLanguage(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{Mails: true})
	s.CreatePartner("demo")
	b, _ := linked(t, s, "a@b.example", "demo")
	bad := set(t, b, "change_company", map[string]string{"companyName": " "})
	require.Equal(t, http.StatusUnprocessableEntity, bad.Status)
	require.Equal(t, "true", bad.InputAttribute("companyName", "aria-invalid"))
	sent := set(t, b, "change_company", map[string]string{"companyName": " Gîtes <b> "})
	require.Equal(t, "/dashboard/settings?done=change_company", sent.Location)
	require.Contains(t, b.Get("/dashboard").Body, "Gîtes &lt;b&gt;")
	require.Equal(t, 1, s.Count("audit_log", `action = 'account.rename' AND detail @> '{"to": "Gîtes <b>"}'`))

	require.Equal(t, http.StatusUnprocessableEntity,
		set(t, b, "change_language", map[string]string{"locale": "de"}).Status)
	sent = set(t, b, "change_language", map[string]string{"locale": "fr"})
	require.Equal(t, "/dashboard/settings?done=change_language&lang=fr", sent.Location)
	page := b.Get(sent.Location)
	require.Equal(t, "fr", page.ElementAttribute("html", "lang"))
	require.Contains(t, page.Body, "La langue est enregistrée.")
	require.Equal(t, "fr", logIn(t, s, "a@b.example", secretWord).Get("/dashboard").ElementAttribute("html", "lang"),
		"in a browser that prefers no language")
}

func TestSettings_SessionsAreShownAndEnded(t *testing.T) {
	s, _, b, _ := demo(t)
	stranger, _ := linked(t, s, "c@d.example", "demo")
	s.Clock.Add(time.Minute)
	one, two, three := logIn(t, s, "a@b.example", secretWord), logIn(t, s, "a@b.example", secretWord),
		logIn(t, s, "a@b.example", secretWord)
	page := b.Get("/dashboard/settings")
	require.Equal(t, 4, strings.Count(page.Body, "Logged in "))
	require.Equal(t, 1, strings.Count(page.Body, "this one"))
	_, rest, _ := strings.Cut(page.Body, "this one")
	require.Equal(t, 1, strings.Count(rest, "Logged in "), "the newest first")
	require.NotContains(t, stranger.Get("/dashboard/settings").Body, "End all others")

	name := page.InputAttribute("session", "value")
	foreign := stranger.Post("/dashboard/settings", url.Values{
		"csrf_token": {stranger.Get("/dashboard").InputAttribute("csrf_token", "value")}, "intent": {"end_session"},
		"session": {name},
	})
	require.Equal(t, http.StatusSeeOther, foreign.Status)
	require.Equal(t, 5, s.Count("sessions", ""), "another operator's session stays")
	require.Equal(t, http.StatusSeeOther, b.Send(page, form(t, page, "end_session"), nil).Status)
	gone := 0
	for _, each := range []*connecttest.Browser{one, two, three} {
		if each.Get("/dashboard").Location == "/login" {
			gone++
		}
	}
	require.Equal(t, 1, gone)
	token := page.InputAttribute("csrf_token", "value")
	require.Equal(t, http.StatusSeeOther, b.Post("/dashboard/settings",
		url.Values{"csrf_token": {token}, "intent": {"end_session"}, "session": {"others"}}).Status)
	for _, each := range []*connecttest.Browser{one, two, three} {
		require.Equal(t, "/login", each.Get("/dashboard").Location)
	}
	require.Equal(t, http.StatusOK, b.Get("/dashboard").Status)
	require.Equal(t, http.StatusOK, stranger.Get("/dashboard").Status)

	s.Clock.Set(s.Clock.Now().Add(12 * time.Hour))
	require.Equal(t, "/login", b.Get("/dashboard").Location, "nobody used it")
}

func TestSettings_Contact_IsAnAddressOrATelephoneNumber(t *testing.T) {
	d := newDesk(t)
	bad := set(t, d.b, "change_contact", map[string]string{"contact": "https://evil.example"})
	require.Equal(t, http.StatusUnprocessableEntity, bad.Status)
	require.Contains(t, bad.Body, "Enter an e-mail address or a telephone number")
	require.Equal(t, "true", bad.InputAttribute("contact", "aria-invalid"))
	require.Equal(t, 1, d.Count("accounts", "id = $1 AND contact = ''", d.account))
	for _, good := range []string{"hello@chalets.example", ""} {
		sent := set(t, d.b, "change_contact", map[string]string{"contact": " " + good})
		require.Equal(t, "/dashboard/settings?done=change_contact", sent.Location, good)
		require.Equal(t, good, d.b.Get("/dashboard/settings").InputAttribute("contact", "value"))
	}
	require.Contains(t, d.b.Get("/dashboard/settings?done=change_contact").ElementText("main"), "The contact is saved.")
	require.Equal(t, 2, d.Count("audit_log", "action = 'account.change_contact'"))
}
