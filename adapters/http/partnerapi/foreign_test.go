package partnerapi_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/agreement"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/tenant"
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
	other.LinkAccount(other.partner.ID, mustAccount(t, account), "now-theirs")
	other.get("/deposits/"+d).refused(403, "deposit_access_denied")
	require.Empty(t, other.get("/deposits").list())
	require.Equal(t, 200, c.get("/deposits/"+d).status)
}

func TestDepositOfTheDashboard_OnceTheLinkIsOver_ShowsNoTenant(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	now := c.clock.Now()
	d, _ := c.CreateDeposit(deposit.Origin{AccountID: mustAccount(t, account), PartnerID: c.partner.ID,
		ExternalID: "hotel-1"},
		deposit.Draft{Amount: 10_000, ContractStartAt: now, ContractEndAt: now.Add(72 * time.Hour)})
	own, theirs := c.created(account), id.Deposit.Of(d.ID)
	c.revoke(account)
	for _, d := range []string{own, theirs} { // the tenant comes after the end of the link
		parsed, _ := id.Deposit.Parse(d)
		tokens, err := c.Postgres.Deposits.CheckoutTokens(t.Context(), []id.ID{parsed})
		require.NoError(t, err)
		_, err = c.Checkout.Submit(t.Context(), tokens[parsed],
			tenant.Person{Email: "late@tenant.example", FirstName: "Late", LastName: "Comer"},
			agreement.SubmittedForm{Agreed: true})
		require.NoError(t, err)
	}
	shown := func() any {
		got := c.get("/deposits/" + theirs).ok(200)
		for _, d := range c.get("/deposits?accountId=" + account).list() {
			if d["id"] == theirs {
				require.Equal(t, got, d)
			}
		}
		require.Equal(t, got["client"] == nil, got["clientId"] == nil)
		require.Equal(t, 100.0, got["amount"], "the rest is shown as before")
		return got["client"]
	}
	require.Nil(t, shown())
	require.NotContains(t, string(c.get("/deposits/"+theirs).body), "late@tenant.example")
	require.Equal(t, "late@tenant.example", c.get("/deposits/" + own).ok(200)["client"].(object)["email"],
		"the partner created it")
	for _, d := range []string{own, theirs} {
		var clientID id.ID
		parsed, _ := id.Deposit.Parse(d)
		require.NoError(t,
			c.Pool.QueryRow(t.Context(), `SELECT client_id FROM deposits WHERE id = $1`, parsed).Scan(&clientID))
		require.False(t, clientID.IsZero())
		require.Len(t, c.get("/deposits?clientId="+id.Client.Of(clientID)).list(), map[string]int{own: 1, theirs: 0}[d])
	}

	other := c.world.caller(t, "other")
	other.LinkAccount(other.partner.ID, mustAccount(t, account), "now-theirs")
	require.Nil(t, shown(), "the account is linked to another partner")
	other.revoke(account)
	c.LinkAccount(c.partner.ID, mustAccount(t, account), "hotel-1")
	require.Equal(t, "Late", shown().(object)["firstName"], "linked again")
}

// The contract walk has every operation that needs a link refused.
func TestRevokedLink_ReadAndCancelOnly(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	c.client(account, "a@b.example")
	pending, active := c.created(account), c.created(account)
	c.simulated(active, "activate")
	c.revoke(account)

	require.Empty(t, c.get("/accounts").list())
	for _, path := range []string{"/accounts?status=revoked", "/accounts?status=all",
		"/accounts?status=all&externalId=hotel-1"} {
		found := c.get(path).list()
		require.Len(t, found, 1)
		require.Equal(t, "revoked", found[0]["status"])
		require.NotEmpty(t, found[0]["revokedAt"])
	}
	require.Empty(t, c.get("/accounts?status=all&externalId=hotel-2").list())
	require.Equal(t, "revoked", c.get("/accounts/" + account).ok(200)["status"])
	require.Equal(t, "active", c.get("/deposits/" + active).ok(200)["status"])
	require.Len(t, c.get("/deposits?accountId="+account).list(), 2)
	c.leavesNothing(t, func() {
		c.post("/deposits/"+active+"/capture", nil).refused(403, "account_revoked")
		require.Empty(t, c.get("/clients").list())
	})
	require.Equal(t, "cancelled", c.post("/deposits/"+pending+"/cancel", nil).ok(200)["status"])

	c.LinkAccount(c.partner.ID, mustAccount(t, account), "hotel-1")
	require.Equal(t, 200, c.post("/deposits/"+active+"/capture", nil).status, "a new link counts, not the old one")
	require.Len(t, c.get("/accounts?status=all").list(), 1, "of one account the newest link counts")
}
