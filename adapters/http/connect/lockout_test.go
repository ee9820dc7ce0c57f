package connect_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/connecttest"
)

// from gives a browser at that address, and a function that logs in with it.
func from(t *testing.T, s *connecttest.Server, address string) (b *connecttest.Browser, logIn func(email, password string) connecttest.Answer) {
	t.Helper()
	b = s.Browser(t)
	b.From = address
	token := b.Get("/login").Input("csrf_token", "value")
	return b, func(email, password string) connecttest.Answer {
		t.Helper()
		return b.Post("/login", url.Values{"csrf_token": {token}, "email": {email}, "password": {password}})
	}
}

func TestLogin_WrongPasswordsOfAnotherNetwork_LockNobodyOut(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{Counted: true})
	s.Browser(t).Submit("/register", signup("a@b.example"))

	_, attack := from(t, s, "192.0.2.1")
	for range 10 {
		require.Equal(t, "bad_credentials", attack("a@b.example", "wrong password").Code())
	}
	refused := attack("A@b.example", password)
	require.Equal(t, "rate_limited", refused.Code(), "the attacker has used its attempts up")
	require.NotEmpty(t, refused.Header.Get("Retry-After"))

	_, logIn := from(t, s, "198.51.100.7")
	require.Equal(t, http.StatusSeeOther, logIn("a@b.example", password).Status)
}

func TestLogin_ThatSucceeds_DoesNotCount(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{Counted: true})
	s.Browser(t).Submit("/register", signup("a@b.example"))
	for range 12 {
		_, logIn := from(t, s, "198.51.100.7")
		require.Equal(t, http.StatusSeeOther, logIn("a@b.example", password).Status)
	}
}

func TestLogin_AfterAHundredFailuresOfAnEmail_IsForNetworksThatSignedInBefore(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{Counted: true})
	home := s.Browser(t)
	home.From = "2001:db8:1:2::1"
	require.Equal(t, http.StatusSeeOther, home.Submit("/register", signup("a@b.example")).Status)
	_, fromOffice := from(t, s, "198.51.100.7")
	require.Equal(t, http.StatusSeeOther, fromOffice("a@b.example", password).Status)

	for i := range 100 {
		_, attack := from(t, s, fmt.Sprintf("192.0.2.%d", i))
		require.Equal(t, "bad_credentials", attack("a@b.example", "wrong password").Code(), i)
		require.Equal(t, "bad_credentials", attack("nobody@b.example", "wrong password").Code(), i)
	}
	for _, email := range []string{"a@b.example", "nobody@b.example"} {
		_, logIn := from(t, s, "203.0.113.1")
		refused := logIn(email, password)
		require.Equal(t, http.StatusTooManyRequests, refused.Status, "an unknown address is told the same")
		require.Equal(t, "rate_limited", refused.Code())
	}
	for _, known := range []string{"198.51.100.7", "2001:db8:1:2:ffff::9"} {
		_, logIn := from(t, s, known)
		require.Equal(t, "bad_credentials", logIn("a@b.example", "wrong password").Code(), known)
		require.Equal(t, http.StatusSeeOther, logIn("a@b.example", password).Status, known)
	}
	_, logIn := from(t, s, "2001:db8:1:3::1")
	require.Equal(t, "rate_limited", logIn("a@b.example", password).Code(), "another /64")
	require.Zero(t, s.Count("operator_networks", "encode(network, 'escape') LIKE '%198.51%'"), "no address in clear")
}

func TestLogin_AfterFailuresOfOneEmail_LetsOthersIn(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{Counted: true})
	s.Browser(t).Submit("/register", signup("c@d.example"))
	for i := range 101 {
		_, attack := from(t, s, fmt.Sprintf("192.0.2.%d", i))
		attack("a@b.example", "wrong password")
	}
	_, logIn := from(t, s, "203.0.113.1")
	require.Equal(t, http.StatusSeeOther, logIn("c@d.example", password).Status)
}
