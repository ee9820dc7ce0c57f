package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/redistest"
)

// TestProduction_HasNoShortcuts: the aids of other environments are absent in production.
func TestProduction_HasNoShortcuts(t *testing.T) {
	t.Parallel()
	var made struct{ Keyset string }
	_, stdout, _ := run(t, nil, "admin", "secrets", "new-keyset", "--json")
	require.NoError(t, json.Unmarshal([]byte(stdout), &made))
	addr := freePort(t)
	w := &deployment{baseURL: "http://" + addr, slug: "acme", environ: []string{
		"SERVICE_ENV=production", "SMTP_URL=smtp://127.0.0.1:9", "MAIL_FROM=a@b.example", "SECRETS_KEYSET=" + made.Keyset,
		"DATABASE_URL=" + pgtest.NewDatabaseURL(t), "REDIS_URL=" + redistest.EmptyDatabaseURL(t),
		"METRICS_PPROF=true", "PAYMENTS_PROVIDER=none", "HTTP_ADDR=" + addr, "API_BASE_URL=http://" + addr,
		"DASHBOARD_BASE_URL=http://" + addr,
	}}
	var partner struct{ ConnectSecret, APIKey string }
	w.admin(t, &partner, "partner", "create", "--slug", w.slug, "--name", "Acme Stays")
	w.apiKey, w.connectSecret = partner.APIKey, partner.ConnectSecret
	require.True(t, strings.HasPrefix(w.apiKey, "svc_pk_live_"))
	h := w.http(t)
	require.NotContains(t, h.log.String(), "development keyset")
	require.Contains(t, h.log.String(), "METRICS_PPROF is on in production")

	depositID, checkoutURL := w.deposit(t, w.link(t, "villa-15"))
	for path, c := range map[string]struct {
		want string
		body map[string]string
	}{
		"/test/deposits/" + depositID + "/simulate": {"route_not_found", map[string]string{"outcome": "activate"}},
		"/webhooks": {"invalid_field", map[string]string{"url": "http://127.0.0.1:9/hook"}},
	} {
		status, body, err := w.api(t).do(http.MethodPost, path, c.body)
		require.NoError(t, err)
		require.Contains(t, []int{http.StatusNotFound, http.StatusBadRequest}, status)
		require.Contains(t, string(body), c.want)
	}
	status, body, err := w.api(t).with("X-Api-Key",
		"svc_pk_test_"+strings.TrimPrefix(w.apiKey, "svc_pk_live_")).do(http.MethodGet, "/me", nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusUnauthorized, status, string(body))

	// No payment provider is set up: the tenant is asked to come back, and nothing is decided.
	b := newBrowser(t)
	away := b.submit(b.open(checkoutURL),
		url.Values{"firstName": {"Tina"}, "lastName": {"Tenant"}, "email": {"tina@example.com"}, "agree": {"yes"}})
	require.Equal(t, http.StatusServiceUnavailable, away.status)
	require.Contains(t, away.body, `data-error-code="service_unavailable"`)
	for _, path := range []string{"/debug/pprof/", "/sandbox/pay/x", "/sandbox/mails", "/styleguide",
		"/styleguide/guide.css", "/styleguide/mails", "/styleguide/mails/en/0/html"} {
		code, _ := fetch(w.baseURL + path)
		require.Equal(t, http.StatusNotFound, code, path)
	}
	var deposit struct{ Data struct{ Status string } }
	w.api(t).get("/deposits/"+depositID, &deposit)
	require.Equal(t, "pending", deposit.Data.Status)
}
