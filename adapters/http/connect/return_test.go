package connect_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/lab/connecttest"
)

func TestReturnURL(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		env    partner.Environment
		raw    string
		direct bool
		asked  string // host on the page that asks; "" with direct false: ignored
	}{
		{"registered", partner.EnvironmentProduction, "https://pms.example/done?x=%7E1&y", true, ""},
		{"not registered", partner.EnvironmentProduction, "https://elsewhere.example/done", false, "elsewhere.example"},
		{"look-alike letters", partner.EnvironmentProduction, "https://pmѕ.example/", false, "xn--pm-foc.example"},
		{"letters that IDNA refuses", partner.EnvironmentProduction, "https://pms\u0338.example/", false, "xn--"},
		{"punycode that is none", partner.EnvironmentDevelopment, "https://xn--a.example/", false, "xn--a.example"},
		{"script", partner.EnvironmentDevelopment, "javascript:alert(1)", false, ""},
	}
	servers := map[partner.Environment]*connecttest.Server{}
	for _, env := range []partner.Environment{partner.EnvironmentProduction, partner.EnvironmentDevelopment} {
		servers[env] = connecttest.New(t, connecttest.Options{Environment: env})
		servers[env].CreatePartner("demo", func(p *partner.Partner) {
			p.ReturnOrigins = []string{"https://pms.example", "https://büro.example"}
		})
	}
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := servers[c.env]
			b := s.NewBrowser(t)
			externalID := "op " + string(rune('a'+i))
			sent := b.Submit("/register?"+good(s, "demo", externalID, returnTo(c.raw)), signup(string(rune('a'+i))+"@b.example"))
			require.Equal(t, http.StatusSeeOther, sent.Status, sent.Body)
			switch {
			case c.direct:
				require.True(t, strings.HasPrefix(sent.Location, c.raw), sent.Location)
				requireResult(t, sent.Location, "linked", externalID, "")
			case c.asked != "":
				require.True(t, strings.HasPrefix(sent.Location, "/connect/done?"), sent.Location)
				page := b.Get(sent.Location)
				require.Equal(t, http.StatusOK, page.Status)
				require.Contains(t, page.Body, "Continue to "+c.asked)
				requireResult(t, page.LinkURLByPrefix("https://"), "linked", externalID, "")
			default:
				require.Equal(t, "/dashboard", sent.Location)
			}
		})
	}
}

func TestReturnURL_SentTwice_IsIgnored(t *testing.T) {
	s := demo(t)
	sent := s.NewBrowser(t).Submit("/register?"+
		good(s, "demo", "op", returnTo("https://a.example/")+returnTo("https://b.example/")), signup("a@b.example"))
	require.Equal(t, "/dashboard", sent.Location)
}

func TestDone_ShowsOnlyWhatTheServiceSaidItself(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{Environment: partner.EnvironmentProduction})
	s.CreatePartner("demo")
	b := s.NewBrowser(t)
	query := good(s, "demo", "op-1", returnTo("https://pms.example/"))
	sent := b.Submit("/register?"+query, signup("a@b.example"))
	require.Contains(t, sent.Location, "/connect/done?outcome=linked&seal=")
	require.Equal(t, http.StatusOK, b.Get(sent.Location).Status)
	require.Equal(t, "/dashboard",
		b.Get(strings.Replace(sent.Location, "outcome=linked", "outcome=already_linked", 1)).Location)
	require.Equal(t, "/dashboard", b.Get("/connect/done?"+query).Location)
	require.Equal(t, "/login", s.NewBrowser(t).Get(sent.Location).Location, "not without a session")
	b.UnlinkPartner()
	require.Equal(t, "/dashboard", b.Get(sent.Location).Location, "not once the link has ended")
}

var hex64 = regexp.MustCompile(`^[0-9a-f]{64}$`)

// requireResult checks the parameters that a return URL carries, with the signature made anew.
func requireResult(t *testing.T, location, status, externalID, refusal string) {
	t.Helper()
	u, err := url.Parse(location)
	require.NoError(t, err)
	q := u.Query()
	require.Equal(t, []string{status}, q["connectStatus"], location)
	require.Equal(t, []string{externalID}, q["externalId"])
	require.Equal(t, refusal, q.Get("connectError"))
	if status == "error" {
		require.Equal(t, []string{""}, q["accountId"])
	} else {
		_, ok := id.Account.Parse(q.Get("accountId"))
		require.True(t, ok, location)
		require.NotContains(t, q, "connectError")
	}
	require.Regexp(t, hex64, q.Get("returnSig"))
	want := connect.SignReturnURL(key, connect.LinkResult(status), q.Get("accountId"), q.Get("returnTs"), externalID)
	require.Equal(t, want, q.Get("returnSig"))
}
