package connect_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/connect"
	"partnerdeposits/lab/connecttest"
)

type failing struct {
	name, query string
	status      int
	code        string
}

func failures(s *connecttest.Server) []failing {
	now := s.Clock.Now()
	ts := unix(now)
	sig := connect.SignURL(key, "demo", "op-1", ts)
	ok := good(s, "demo", "op-1", "")
	sign := func(ts string) string { return connecttest.SignedQuery(key, "demo", "op-1", ts, "") }
	const day = 24 * time.Hour
	return []failing{
		{"unknown partner", good(s, "nobody", "op-1", ""), 404, "partner_not_found"},
		{"no partner", strings.Replace(ok, "partner=demo&", "", 1), 404, "partner_not_found"},
		{"doubled partner", ok + "&partner=demo", 404, "partner_not_found"},
		{"unknown partner before everything else", "partner=nobody", 404, "partner_not_found"},
		{"no secret", good(s, "bare", "op-1", ""), 409, "missing_connect_secret"},
		{"no secret before the signature", "partner=bare&external_id=x&ts=1&sig=1", 409, "missing_connect_secret"},
		{"wrong secret", connecttest.SignedQuery("svc_cs_other", "demo", "op-1", ts, ""), 400, "invalid_signature"},
		{"doubled sig", ok + "&sig=" + sig, 400, "invalid_signature"},
		{"external id changed", strings.Replace(ok, "op-1", "op-2", 1), 400, "invalid_signature"},
		{"too old", sign(unix(now.Add(-30*day - time.Second))), 410, "expired"},
		{"too old and wrong", strings.Replace(sign("1"), "op-1", "op-2", 1), 400, "invalid_signature"},
		{"return_url alone", returnTo("https://pms.example/")[1:], 404, "partner_not_found"},
	}
}

func TestConnectURL_ThatIsNotGood_IsRefusedWithItsCode(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	s.CreatePartner("demo")
	s.CreatePartnerWithSecret("other", "svc_cs_of_other")
	s.CreatePartnerWithSecret("bare", "")
	// Tokens of forms opened without a partner: a POST is checked as its GET is.
	for _, c := range failures(s) {
		for _, path := range []string{"/register", "/login"} {
			t.Run(c.name+path, func(t *testing.T) {
				b := s.NewBrowser(t)
				page := b.Get(path + "?" + c.query)
				require.Equal(t, c.status, page.Status)
				require.Equal(t, c.code, page.ErrorCode())
				require.Empty(t, page.ElementsByTag("form"), "nothing to send on a page that refuses")
				require.Empty(t, page.LinkURLByPrefix("https://pms.example"), "return_url is not followed before the link is checked")

				plain := b.Get(path)
				values := map[string][]string{"email": {"a@b.example"}, "password": {password}, "companyName": {"C"},
					"csrf_token": {plain.InputAttribute("csrf_token", "value")}}
				sent := b.Post(path+"?"+c.query, values)
				require.Equal(t, c.status, sent.Status)
				require.Equal(t, c.code, sent.ErrorCode())
				require.Nil(t, sent.Cookie("session"))
			})
		}
	}
	require.Zero(t, s.Count("operators", ""))
	require.Zero(t, s.Count("account_links", ""))
	require.Zero(t, s.Count("outbox", ""))
}

func TestConnectURL_ThatExpiresWhileTheFormIsFilledIn_IsRefusedAtThePost(t *testing.T) {
	s := demo(t)
	b := s.NewBrowser(t)
	page := b.Get("/register?" + good(s, "demo", "op-1", ""))
	require.Equal(t, http.StatusOK, page.Status)
	s.Clock.Set(s.Clock.Now().Add(connect.TimestampTolerance + time.Minute))
	sent := b.Send(page, 0, signup("a@b.example"))
	require.Equal(t, http.StatusGone, sent.Status)
	require.Equal(t, "expired", sent.ErrorCode())
	require.Zero(t, s.Count("operators", ""))
}

func TestConnectURL_AfterTheSecretWasRotated_IsRefused(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	p := s.CreatePartner("demo")
	b := s.NewBrowser(t)
	page := b.Get("/register?" + good(s, "demo", "op-1", ""))
	require.NoError(t, s.Postgres.WithinTx(t.Context(), func(ctx context.Context) error {
		return s.Postgres.Partners.SetConnectSecret(ctx, p.ID, "svc_cs_new")
	}))
	require.Equal(t, "invalid_signature", b.Send(page, 0, signup("a@b.example")).ErrorCode())
}
