package partnerapi_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every route with an id, called with an id of another partner, an unknown id, a malformed id, an id of another kind.
func TestForeignAndUnknownIDs_OnEveryRoute(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	other := c.world.caller(t, "other")
	theirs := other.link("theirs")
	foreign := map[string]string{
		"acct": theirs,
		"dep":  other.created(theirs),
		"cli":  text(t, other.post("/clients", object{"accountId": theirs, "email": "a@b.example", "firstName": "A", "lastName": "B"}).ok(201), "id"),
		"pwh":  text(t, other.post("/webhooks", object{"url": "https://93.184.216.34/"}).ok(201), "id"),
		"dlv":  "dlv_01jb2m6a1m8p0r3t5v7x9z2b4f",
	}
	mine := text(t, c.post("/webhooks", object{"url": "https://93.184.216.34/"}).ok(201), "id")
	routes := []struct{ method, path, prefix, code string }{
		{"GET", "/accounts/*", "acct", "account_not_found"},
		{"GET", "/clients/*", "cli", "client_not_found"},
		{"GET", "/webhooks/*", "pwh", "webhook_not_found"},
		{"PATCH", "/webhooks/*", "pwh", "webhook_not_found"},
		{"DELETE", "/webhooks/*", "pwh", "webhook_not_found"},
		{"POST", "/webhooks/*/rotate-secret", "pwh", "webhook_not_found"},
		{"POST", "/webhooks/*/test", "pwh", "webhook_not_found"},
		{"GET", "/webhooks/*/deliveries", "pwh", "webhook_not_found"},
		{"GET", "/webhooks/*/deliveries/" + foreign["dlv"], "pwh", "webhook_not_found"},
		{"GET", "/webhooks/" + mine + "/deliveries/*", "dlv", "delivery_not_found"},
		{"POST", "/webhooks/*/deliveries/" + foreign["dlv"] + "/redeliver", "pwh", "webhook_not_found"},
		{"POST", "/webhooks/" + mine + "/deliveries/*/redeliver", "dlv", "delivery_not_found"},
		{"POST", "/webhooks/*/replay", "pwh", "webhook_not_found"},
		{"GET", "/deposits/*", "dep", "deposit_not_found"},
		{"POST", "/deposits/*/cancel", "dep", "deposit_not_found"},
		{"POST", "/deposits/*/capture", "dep", "deposit_not_found"},
		{"POST", "/test/deposits/*/simulate", "dep", "deposit_not_found"},
	}
	c.leavesNothing(t, func() {
		for _, r := range routes {
			var body any = object{}
			switch {
			case r.method == "GET" || r.method == "DELETE":
				body = nil
			case strings.HasSuffix(r.path, "simulate"):
				body = object{"outcome": "activate"}
			case strings.HasSuffix(r.path, "replay"):
				body = object{"from": "2026-06-01T00:00:00Z", "to": "2026-06-02T00:00:00Z"}
			}
			const unknown = "_01jb2m4q8e7w9x3c5v6b7n8m9a"
			for _, sent := range []string{
				r.prefix + unknown, "nonsense", "%00", "%2e%2e%2f", r.prefix + "_", r.prefix + "_" + strings.Repeat("z", 26), r.prefix + "_" + strings.Repeat("0", 26),
				strings.ToUpper(foreign[r.prefix]), "x" + unknown, strings.Repeat("a", 3000), "é", "'%20OR%201=1--",
			} {
				c.do(r.method, strings.Replace(r.path, "*", sent, 1), body).refused(404, r.code)
			}
			their := c.do(r.method, strings.Replace(r.path, "*", foreign[r.prefix], 1), body)
			if r.prefix == "dep" {
				their.refused(403, "deposit_access_denied")
			} else {
				their.refused(404, r.code)
			}
		}
		for _, sent := range []string{theirs, "acct_01jb2m1r6d9f4h8k3n5p7s2v0w", "nonsense"} {
			c.post("/clients", object{"accountId": sent, "email": "a@b.example", "firstName": "A", "lastName": "B"}).refused(403, "account_not_linked")
			require.Empty(t, c.get("/deposits?accountId="+sent).list())
			require.Empty(t, c.get("/deposits?clientId="+sent).list())
			require.Empty(t, c.get("/webhooks/"+mine+"/deliveries?depositId="+sent).list())
		}
	})
	require.Len(t, other.get("/deposits").list(), 1)
	require.Empty(t, c.get("/deposits").list())
	require.Len(t, c.get("/accounts").list(), 1)
	require.Equal(t, account, c.get("/accounts").list()[0]["accountId"])
}

func TestDepositOfTheDashboard_MayBeReadButNotActedOn(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	d := c.dashboardDeposit(account)
	got := c.get("/deposits/" + d).ok(200)
	require.NotContains(t, got, "partnerContext")
	require.NotContains(t, got, "depositUrl")
	require.Equal(t, []object{got}, c.get("/deposits").list())
	c.leavesNothing(t, func() {
		c.post("/deposits/"+d+"/cancel", nil).refused(403, "deposit_access_denied")
		c.post("/deposits/"+d+"/capture", nil).refused(403, "deposit_access_denied")
		c.post("/test/deposits/"+d+"/simulate", object{"outcome": "activate"}).refused(403, "deposit_access_denied")
	})
	other := c.world.caller(t, "other")
	c.revoke(account)
	other.Link(other.partner.ID, mustAccount(t, account), "now-theirs")
	other.get("/deposits/"+d).refused(403, "deposit_access_denied")
	require.Empty(t, other.get("/deposits").list())
	require.Equal(t, 200, c.get("/deposits/"+d).status)
}

func TestRevokedLink_ReadAndCancelOnly(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	client := text(t, c.post("/clients", object{"accountId": account, "email": "a@b.example", "firstName": "A", "lastName": "B"}).ok(201), "id")
	pending, active := c.created(account), c.created(account)
	c.simulated(active, "activate")
	c.revoke(account)

	require.Empty(t, c.get("/accounts").list())
	for _, path := range []string{"/accounts?status=revoked", "/accounts?status=all", "/accounts?status=all&externalId=hotel-1"} {
		found := c.get(path).list()
		require.Len(t, found, 1)
		require.Equal(t, "revoked", found[0]["status"])
		require.NotEmpty(t, found[0]["revokedAt"])
	}
	require.Equal(t, "revoked", c.get("/accounts/" + account).ok(200)["status"])
	require.Equal(t, "active", c.get("/deposits/" + active).ok(200)["status"])
	require.Len(t, c.get("/deposits?accountId="+account).list(), 2)
	c.leavesNothing(t, func() {
		c.post("/deposits", draft(account)).refused(403, "account_revoked")
		c.post("/deposits/"+active+"/capture", nil).refused(403, "account_revoked")
		c.post("/clients", object{"accountId": account, "email": "a@b.example", "firstName": "A", "lastName": "B"}).refused(403, "account_revoked")
		c.get("/clients/"+client).refused(403, "account_revoked")
	})
	require.Equal(t, "cancelled", c.post("/deposits/"+pending+"/cancel", nil).ok(200)["status"])

	c.Link(c.partner.ID, mustAccount(t, account), "hotel-1")
	require.Equal(t, 200, c.post("/deposits/"+active+"/capture", nil).status, "a new link counts, not the old one")
	require.Len(t, c.get("/accounts?status=all").list(), 1, "of one account the newest link counts")
}
