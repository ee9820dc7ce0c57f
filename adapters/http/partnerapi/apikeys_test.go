package partnerapi_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/partners"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
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
	require.Equal(t, listed, c.get("/api-keys").list(), "the time of the deletion stays")
}

func TestAPIKeys_TheOwnAndLastKey_CanBeDeleted_AndTheAdminMakesAnother(t *testing.T) {
	t.Parallel()
	c, _ := newStory(t)
	require.Equal(t, 204, c.deletes(c.keyID).status)
	c.get("/me").refused(401, "api_key_revoked")
	c.post("/api-keys", object{"name": "again"}).refused(401, "api_key_revoked")
	_, plain, err := c.Partners.CreateKey(t.Context(), "acme", "again")
	require.NoError(t, err)
	require.Equal(t, 200, c.get("/me", "x-api-key", plain.Reveal()).status)
}

func TestAPIKeys_AtMostTwenty_HoweverManyAtOnce_AndDeletedOnesDoNotCount(t *testing.T) {
	t.Parallel()
	c, _ := newStory(t)
	var wg sync.WaitGroup
	answers := make([]reply, 30)
	for i := range answers {
		wg.Go(func() { answers[i] = c.post("/api-keys", object{"name": fmt.Sprint(i)}) })
	}
	wg.Wait()
	made := 0
	for _, a := range answers {
		if a.status == 201 {
			made++
			continue
		}
		require.Equal(t, "A partner can have 20 API keys at most. Delete one first.", a.refused(409, "api_key_limit_reached"))
	}
	require.Equal(t, partner.MaxAPIKeys-1, made, "the first key counts")
	c.leavesNothing(t, func() {
		c.post("/api-keys", object{"name": "x"}).refused(409, "api_key_limit_reached")
		_, _, err := c.Partners.CreateKey(t.Context(), "acme", "x")
		require.ErrorIs(t, err, partner.ErrAPIKeyLimit, "the command has the same limit")
	})
	require.Equal(t, 204, c.deletes(c.keyID).status)
	_, _, err := c.Partners.CreateKey(t.Context(), "acme", "x")
	require.NoError(t, err)
}

func TestAPIKeys_OfAnotherPartner_StayUnknown(t *testing.T) {
	t.Parallel()
	c, _ := newStory(t)
	other := c.world.caller(t, "other")
	c.leavesNothing(t, func() { c.deletes(other.keyID).refused(404, "api_key_not_found") })
	require.Equal(t, 200, other.get("/me").status)
	require.Len(t, c.get("/api-keys").list(), 1)
}

// A repeated POST makes another key: the route takes no Idempotency-Key, so no stored response holds a key.
func TestAPIKeys_TakeNoIdempotencyKey(t *testing.T) {
	t.Parallel()
	c, _ := newStory(t)
	key := newKey()
	first, second := c.post("/api-keys", object{"name": "x"}, "idempotency-key", key),
		c.post("/api-keys", object{"name": "x"}, "idempotency-key", key)
	require.NotEqual(t, first.ok(201)["key"], second.ok(201)["key"])
	require.Empty(t, second.header.Get(replayed))
	c.post("/api-keys", object{"name": "x"}, "idempotency-key", "nonsense").ok(201)
	require.Zero(t, c.count(t)["idempotency_keys"])
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
		for table := range w.count(t) {
			var n int
			require.NoError(t,
				w.Pool.QueryRow(t.Context(), "SELECT count(*) FROM "+table+" k WHERE position($1 in k::text) > 0", body).Scan(&n))
			require.Zero(t, n, table)
		}
		for _, name := range w.redis.Keys(t.Context(), "*").Val() {
			value, err := w.redis.Dump(t.Context(), name).Result()
			require.NoError(t, err)
			require.NotContains(t, name+value, body)
		}
	}
}
