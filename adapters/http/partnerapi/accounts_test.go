package partnerapi_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
)

func (c *caller) unlink(account string) {
	c.t.Helper()
	require.Equal(c.t, http.StatusNoContent, c.do(http.MethodDelete, "/accounts/"+account, nil).status)
}

func TestDeleteAccount_EndsTheLink_MailsTheOperator_AndIsAudited(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	kept := c.link("hotel-2")
	pending := c.created(account)
	c.unlink(account)
	ended := c.get("/accounts/" + account).ok(200)
	require.Equal(t, "revoked", ended["status"])
	require.NotEmpty(t, ended["revokedAt"])
	c.leavesNothing(t, func() {
		c.unlink(account)
		c.post("/deposits", draft(account)).refused(403, "account_revoked")
	})
	require.Equal(t, ended, c.get("/accounts/"+account).ok(200), "the time of the end stays")
	require.Equal(t, kept, c.get("/accounts").list()[0]["accountId"], "another link stays")

	sent := c.ListMails("")
	require.Len(t, sent, 1)
	require.Contains(t, sent[0].Subject, "Partner acme is no longer linked")
	require.Contains(t, sent[0].Body, ", by Partner acme.")
	require.Equal(t, 1, c.Count("audit_log",
		"action = 'link.revoke' AND subject = $1 AND actor = $2 AND detail->>'keyId' = $3 AND detail->>'by' = 'partner'",
		account, "partner:"+id.Partner.Of(c.partner.ID), c.keyID))
	require.Equal(t, pending, c.get("/deposits/" + pending).ok(200)["id"])
	require.Equal(t, "cancelled", c.post("/deposits/"+pending+"/cancel", nil).ok(200)["status"])

	c.LinkAccount(c.partner.ID, mustAccount(t, account), "hotel-1")
	require.Equal(t, "active", c.get("/accounts/" + account).ok(200)["status"])
	c.unlink(account)
	require.Equal(t, 2, c.Count("mails", ""), "each end is told")
}

// The former partner's DELETE leaves the link of the present partner alone.
func TestDeleteAccount_LinkedToAnotherPartnerSince_ChangesNothing(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	c.revoke(account)
	other := c.world.caller(t, "other")
	other.LinkAccount(other.partner.ID, mustAccount(t, account), "now-theirs")
	c.leavesNothing(t, func() { c.unlink(account) })
	require.Equal(t, "active", other.get("/accounts/" + account).ok(200)["status"])
}
