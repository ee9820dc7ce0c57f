package connect_test

import (
	"net/url"
	"strconv"
	"testing"
	"time"

	"partnerdeposits/core/partner"
	"partnerdeposits/lab/connecttest"
	"partnerdeposits/lab/servicetest"
)

func TestMain(m *testing.M) { servicetest.RunTests(m) }

const (
	key      = servicetest.ConnectSecret
	password = "correct horse battery"
)

// demo serves the pages beside other tests, with a partner.
func demo(t *testing.T) *connecttest.Server {
	t.Helper()
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	s.CreatePartner("demo")
	return s
}

// coded serves the pages beside other tests, with an operator whose two-factor codes are on.
func coded(t *testing.T) (*connecttest.Server, *connecttest.AuthenticatorApp) {
	t.Helper()
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	return s, withCodes(t, s, "a@b.example")
}

func unix(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

// good is the query of a connect URL that works now.
func good(s *connecttest.Server, slug, externalID, more string) string {
	return connecttest.SignedQuery(key, slug, externalID, unix(s.Clock.Now()), more)
}

func signup(email string) map[string]string {
	return map[string]string{"email": email, "password": password, "companyName": "Chalets du Lac"}
}

func login(email string) map[string]string {
	return map[string]string{"email": email, "password": password}
}

func returnTo(raw string) string { return "&return_url=" + url.QueryEscape(raw) }

// returningTo lets a partner's return URLs lead to an origin.
func returningTo(origin string) func(*partner.Partner) {
	return func(p *partner.Partner) { p.ReturnOrigins = []string{origin} }
}
