package connect_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/connecttest"
)

// from gives a browser at that address, and a function that logs in with it.
func from(t *testing.T, s *connecttest.Server,
	address string) (b *connecttest.Browser, logIn func(email, password string) connecttest.Answer) {
	t.Helper()
	b = s.NewBrowser(t)
	b.From = address
	token := b.Get("/login").InputAttribute("csrf_token", "value")
	return b, func(email, password string) connecttest.Answer {
		t.Helper()
		return b.Post("/login", url.Values{"csrf_token": {token}, "email": {email}, "password": {password}})
	}
}

func TestLogin_WrongPasswordsOfAnotherNetwork_LockNobodyOut(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{Counted: true})
	s.NewBrowser(t).Submit("/register", signup("a@b.example"))

	_, attack := from(t, s, "192.0.2.1")
	for range 10 {
		require.Equal(t, "bad_credentials", attack("a@b.example", "wrong password").ErrorCode())
	}
	refused := attack("A@b.example", password)
	require.Equal(t, "rate_limited", refused.ErrorCode(), "the attacker has used its attempts up")
	require.NotEmpty(t, refused.Header.Get("Retry-After"))

	for range 12 { // a log-in that succeeds does not count
		_, logIn := from(t, s, "198.51.100.7")
		require.Equal(t, http.StatusSeeOther, logIn("a@b.example", password).Status)
	}
}

func TestLogin_AfterAHundredFailuresOfAnEmail_IsForNetworksThatSignedInBefore(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{Counted: true})
	home := s.NewBrowser(t)
	home.From = "2001:db8:1:2::1"
	require.Equal(t, http.StatusSeeOther, home.Submit("/register", signup("a@b.example")).Status)
	s.NewBrowser(t).Submit("/register", signup("c@d.example"))
	_, fromOffice := from(t, s, "198.51.100.7")
	require.Equal(t, http.StatusSeeOther, fromOffice("a@b.example", password).Status)

	lockOut(t, s, "a@b.example", "nobody@b.example")
	for _, email := range []string{"a@b.example", "nobody@b.example"} {
		_, logIn := from(t, s, "203.0.113.1")
		refused := logIn(email, password)
		require.Equal(t, http.StatusTooManyRequests, refused.Status, "an unknown address is told the same")
		require.Equal(t, "rate_limited", refused.ErrorCode())
	}
	_, others := from(t, s, "203.0.113.2")
	require.Equal(t, http.StatusSeeOther, others("c@d.example", password).Status, "another address")
	for _, known := range []string{"198.51.100.7", "2001:db8:1:2:ffff::9"} {
		_, logIn := from(t, s, known)
		require.Equal(t, "bad_credentials", logIn("a@b.example", "wrong password").ErrorCode(), known)
		require.Equal(t, http.StatusSeeOther, logIn("a@b.example", password).Status, known)
	}
	_, logIn := from(t, s, "2001:db8:1:3::1")
	require.Equal(t, "rate_limited", logIn("a@b.example", password).ErrorCode(), "another /64")
	require.Zero(t, s.Count("operator_networks", "encode(network, 'escape') LIKE '%198.51%'"), "no address in clear")
}

var resetLink = regexp.MustCompile(`/password/reset\?token=[A-Za-z0-9_-]{43}`)

// lockOut fails as often as an address allows, from a hundred networks.
func lockOut(t *testing.T, s *connecttest.Server, emails ...string) {
	t.Helper()
	for i := range 100 {
		_, attack := from(t, s, fmt.Sprintf("192.0.2.%d", i))
		for _, email := range emails {
			require.Equal(t, "bad_credentials", attack(email, "wrong password").ErrorCode(), i)
		}
	}
}

func TestLogin_ThatIsLockedOut_MailsTheOwnerOneLink_AndTheNewPasswordOpensAtOnce(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{Counted: true, Mails: true})
	require.Equal(t, http.StatusSeeOther, s.NewBrowser(t).Submit("/register", signup("a@b.example")).Status)
	lockOut(t, s, "a@b.example", "nobody@b.example")
	require.Zero(t, s.Count("password_requests", ""))
	owner, logIn := from(t, s, "203.0.113.1")
	_, unknown := from(t, s, "203.0.113.2")
	for range 3 {
		require.Equal(t, "rate_limited", logIn("A@b.example", password).ErrorCode())
		require.Equal(t, "rate_limited", unknown("nobody@b.example", password).ErrorCode())
	}
	require.Equal(t, 2, s.Count("password_requests", "locked_out"), "the same work for an unknown address")
	_, err := s.Operators.MailPasswordResets(t.Context())
	require.NoError(t, err)
	require.Empty(t, s.ListMails("nobody@b.example"))
	all := s.ListMails("a@b.example")
	require.Len(t, all, 2, "the one of the sign-up, and one while the bound holds")
	require.Equal(t, "Too many wrong passwords for your account", all[1].Subject)

	path := resetLink.FindString(all[1].Body)
	done := owner.Submit(path, map[string]string{"password": "another password"})
	require.Equal(t, "/login?done=reset", done.Location, done.Body)
	entered := owner.Submit("/login", map[string]string{"email": "a@b.example", "password": "another password"})
	require.Equal(t, "/dashboard", entered.Location, "the count is empty: %s", entered.Body)

	lockOut(t, s, "a@b.example")
	_, stranger := from(t, s, "203.0.113.3")
	require.Equal(t, "rate_limited", stranger("a@b.example", "another password").ErrorCode())
	again := s.NewBrowser(t)
	again.From = owner.From
	require.Equal(t, "/dashboard",
		again.Submit("/login", map[string]string{"email": "a@b.example", "password": "another password"}).Location)
}

// The link of a mail makes the network of its reader known, without a log-in.
func TestReset_MakesItsNetworkKnown_ButNotWhileTwoFactorCodesAreOn(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{Counted: true, Mails: true})
	home := s.NewBrowser(t)
	home.From = "198.51.100.7"
	require.Equal(t, http.StatusSeeOther, home.Submit("/register", signup("a@b.example")).Status)
	_, err := s.Pool.Exec(t.Context(), "UPDATE operators SET verified_at = now()")
	require.NoError(t, err)
	reset := func(b *connecttest.Browser, fresh string) {
		require.NoError(t, s.Operators.RequestPasswordReset(t.Context(), "a@b.example", "en"))
		_, err := s.Operators.MailPasswordResets(t.Context())
		require.NoError(t, err)
		all := s.ListMails("a@b.example")
		sent := b.Submit(resetLink.FindString(all[len(all)-1].Body), map[string]string{"password": fresh})
		require.Equal(t, http.StatusSeeOther, sent.Status, sent.Body)
	}
	phone := s.NewBrowser(t)
	phone.From = "203.0.113.1"
	reset(phone, "another password")
	require.Equal(t, 2, s.Count("operator_networks", ""))
	lockOut(t, s, "a@b.example")
	require.Equal(t, "/dashboard",
		phone.Submit("/login", map[string]string{"email": "a@b.example", "password": "another password"}).Location)

	reset(phone, password)
	require.Equal(t, "/dashboard",
		phone.Submit("/login", map[string]string{"email": "a@b.example", "password": password}).Location)
	phone.EnableTOTP(s)
	thief, _ := from(t, s, "203.0.113.9")
	reset(thief, "a third password")
	require.Equal(t, 2, s.Count("operator_networks", ""), "a mailbox alone gives no more tries of codes")
}
