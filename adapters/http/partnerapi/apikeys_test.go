package partnerapi_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/partners"
	"partnerdeposits/core/id"
)

func (c *caller) deletes(keyID string) reply {
	c.t.Helper()
	return c.do(http.MethodDelete, "/api-keys/"+keyID, nil)
}

// Rolling a key is a POST, then a DELETE with the new key.
func TestAPIKeys_Roll(t *testing.T) {
	t.Parallel()
	c, _ := newStory(t)
	old := c.keyID
	answer := c.post("/api-keys", object{"name": "production 2026 – ünï <&>"})
	made := answer.ok(201)
	require.Equal(t, "no-store", answer.header.Get("Cache-Control"))
	plain := text(t, made, "key")
	require.Regexp(t, `^svc_pk_test_[A-Za-z0-9_-]{32}$`, plain)
	require.Equal(t, object{
		"id": made["id"], "name": "production 2026 – ünï <&>", "prefix": "svc_pk_test_", "last4": plain[len(plain)-4:],
		"createdAt": made["createdAt"], "key": plain,
	}, made)
	require.Equal(t, made["id"], c.get("/me", "x-api-key", plain).ok(200)["keyId"], "the key works at once")

	c.key = plain
	require.Equal(t, 204, c.deletes(old).status)
	listed := c.get("/api-keys").list()
	require.Equal(t, []any{made["id"], old}, []any{listed[0]["id"], listed[1]["id"]})
	require.NotContains(t, listed[0], "key")
	require.NotContains(t, listed[0], "revokedAt")
	require.NotEmpty(t, listed[1]["revokedAt"])
	c.leavesNothing(t, func() { require.Equal(t, 204, c.deletes(old).status) })
	again := c.get("/api-keys").list()
	require.Equal(t, listed[1]["revokedAt"], again[1]["revokedAt"], "the time of the deletion stays")

	require.Equal(t, 204, c.deletes(text(t, made, "id")).status, "the key of the request, and the last one")
	c.get("/me").refused(401, "api_key_revoked")
	_, another, err := c.Partners.CreateKey(t.Context(), "acme", "again")
	require.NoError(t, err)
	require.Equal(t, 200, c.get("/me", "x-api-key", another.Reveal()).status)
}

func TestAPIKeys_EachChange_IsAuditedAndMailed_WithoutTheKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	created, err := w.Partners.Create(t.Context(),
		partners.NewPartner{Slug: "acme", Name: "Acme", ContactEmail: "dev@acme.example"})
	require.NoError(t, err)
	c := &caller{world: w, t: t, http: w.http, partner: created.Partner, key: created.APIKey.Reveal(),
		keyID: id.APIKey.Of(created.Key.ID)}
	require.Equal(t, 1, w.Count("mails",
		"recipient = 'dev@acme.example' AND subject = 'A new API key' AND body LIKE '%our support%'"), "of the first key")

	made := c.post("/api-keys", object{"name": "second"}).ok(201)
	madeID := text(t, made, "id")
	require.Equal(t, 204, c.deletes(madeID).status)
	audited := func(action string) int {
		return w.Count("audit_log",
			"action = $1 AND subject = $2 AND actor = $3 AND detail->>'keyId' = $4 AND detail->>'partnerId' = $5",
			action, madeID, "partner:"+id.Partner.Of(c.partner.ID), c.keyID, id.Partner.Of(c.partner.ID))
	}
	require.Equal(t, []int{1, 1}, []int{audited("api_key.create"), audited("api_key.revoke")})
	mailed := func(subject string) int {
		return w.Count("mails",
			"recipient = 'dev@acme.example' AND subject = $1 AND body LIKE '%' || $2 || '%' AND body LIKE '%request with the API key ' || $3 || '%'",
			subject, madeID, c.keyID)
	}
	require.Equal(t, []int{1, 1}, []int{mailed("A new API key"), mailed("An API key was deleted")})

	for _, secret := range []string{text(t, made, "key"), c.key} {
		body := secret[len("svc_pk_test_") : len(secret)-4]
		for table := range w.snapshot(t) {
			require.Zero(t, w.Count(table, "position($1 in "+table+"::text) > 0", body), table)
		}
	}
}
