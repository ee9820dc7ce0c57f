package partnerapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

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
		c.post("/deposits/"+d+"/send-link", object{"email": "a@b.example"}).refused(403, "deposit_access_denied")
		c.post("/deposits/"+d+"/release", nil).refused(403, "deposit_access_denied")
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
		c.post("/deposits/"+active+"/release", nil).refused(403, "account_revoked")
		c.post("/deposits/"+pending+"/send-link", object{"email": "a@b.example"}).refused(403, "account_revoked")
		c.post("/deposits/"+pending+"/send-link/batch", object{"recipients": []object{{"email": "a@b.example"}}}).refused(403, "account_revoked")
		c.post("/deposits/"+active+"/capture", nil).refused(403, "account_revoked")
		c.post("/clients", object{"accountId": account, "email": "a@b.example", "firstName": "A", "lastName": "B"}).refused(403, "account_revoked")
		c.get("/clients/"+client).refused(403, "account_revoked")
		c.do("PATCH", "/clients/"+client, object{"firstName": "B"}).refused(403, "account_revoked")
		c.get("/clients?accountId="+account).refused(403, "account_revoked")
		require.Empty(t, c.get("/clients").list())
	})
	require.Equal(t, "cancelled", c.post("/deposits/"+pending+"/cancel", nil).ok(200)["status"])

	c.Link(c.partner.ID, mustAccount(t, account), "hotel-1")
	require.Equal(t, 200, c.post("/deposits/"+active+"/capture", nil).status, "a new link counts, not the old one")
	require.Len(t, c.get("/accounts?status=all").list(), 1, "of one account the newest link counts")
}
