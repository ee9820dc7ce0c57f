package connect_test

import (
	"net/url"
	"strconv"
	"testing"
	"time"

	"partnerdeposits/adapters/http/connect/connecttest"
	"partnerdeposits/adapters/postgres/pgtest"
	"partnerdeposits/core/secret"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const (
	key      = secret.Text("svc_cs_0123456789abcdef0123456789abcdef")
	password = "correct horse battery"
)

func unix(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

// good is the query of a connect URL that works now.
func good(s *connecttest.Server, slug, externalID, more string) string {
	return connecttest.Query(key, slug, externalID, unix(s.Clock.Now()), more)
}

func signup(email string) map[string]string {
	return map[string]string{"email": email, "password": password, "companyName": "Chalets du Lac"}
}

func login(email string) map[string]string {
	return map[string]string{"email": email, "password": password}
}

func returnTo(raw string) string { return "&return_url=" + url.QueryEscape(raw) }
