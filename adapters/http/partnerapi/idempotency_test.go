package partnerapi_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/platform/idempotent"
)

const replayed = "Idempotent-Replayed"

// again checks that b is a replay of a: same status and bytes, another request id.
func (a reply) again(b reply) {
	a.t.Helper()
	require.Equal(a.t, a.status, b.status, "%s", b.body)
	require.Equal(a.t, string(a.body), string(b.body))
	require.Empty(a.t, a.header.Get(replayed))
	require.Equal(a.t, "true", b.header.Get(replayed))
	require.NotEqual(a.t, a.header.Get("X-Request-Id"), b.header.Get("X-Request-Id"))
	require.Equal(a.t, a.header.Get("Content-Type"), b.header.Get("Content-Type"))
}

// awkward are bodies of operations with characters that an encoder may write in several ways, in place of those of the
// rows.
var awkward = map[string]func(s *stage) object{
	"createDeposit": func(s *stage) object {
		return draft(s.account, "depositUrlGeneration", true, "returnUrl", "https://x.example/?a=1&b=<>")
	},
	"createClient": func(s *stage) object {
		return object{"accountId": s.account, "email": "a@b.example", "firstName": "Zoé <3", "lastName": "O'Neil & sons"}
	},
	"updateClient":   func(*stage) object { return object{"firstName": "Zoé <3", "phone": nil} },
	"releaseDeposit": func(*stage) object { return object{"comment": "all <well> & good"} },
	"sendDepositLinkBatch": func(*stage) object {
		return object{"recipients": []object{{"email": "c@b.example"}, {"email": "d@b.example"}}}
	},
}

// The operations come from the document: a new one that takes a key is tried without a line here.
func TestIdempotency_EveryKeyedRoute_ReplaysToTheByte_WithAndWithoutCache(t *testing.T) {
	t.Parallel()
	world, other := contractWorld(t)
	var keyed []string
	for _, o := range operations(t) {
		if !o.keyed() {
			continue
		}
		keyed = append(keyed, o.OperationID)
		t.Run(o.OperationID, func(t *testing.T) {
			s := other.stage(t)
			q := o.rows.good(s)
			if body, ok := awkward[o.OperationID]; ok {
				q.body = body(s)
			}
			require.NoError(t, s.redis.FlushDB(t.Context()).Err())
			key := newKey()
			first := s.send(o, q, "idempotency-key", key)
			require.Less(t, first.status, http.StatusMultipleChoices, "%s", first.body)
			before := world.snapshot(t)
			s.settleCache(true)
			first.again(s.send(o, q, "idempotency-key", strings.ToUpper(key)))
			first.again(s.send(o, q, "idempotency-key", `"`+key+`"`))
			require.NoError(t, s.redis.FlushDB(t.Context()).Err())
			first.again(s.send(o, q, "idempotency-key", key))
			first.again(s.send(o, q, "idempotency-key", key))
			require.Equal(t, before, world.snapshot(t))
		})
	}
	require.Subset(t, keyed, []string{
		"createDeposit", "cancelDeposit", "releaseDeposit", "captureDeposit", "sendDepositLink", "sendDepositLinkBatch",
		"createClient", "updateClient", "createWebhook",
	}, "the routes whose keys api.md §1 promises")
}

func TestIdempotency_FiftyAtOnce_MakeOneDeposit_StillOneAfterFlush(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	key := newKey()
	storm := func() map[string]int {
		var mu sync.Mutex
		var wg sync.WaitGroup
		seen := map[string]int{}
		start := make(chan struct{})
		for range 50 {
			wg.Go(func() {
				<-start
				r := c.post("/deposits", draft(account), "idempotency-key", key)
				said := string(r.body)
				if r.status == 409 {
					r.refused(409, "idempotency_key_in_use")
					require.Equal(t, "1", r.header.Get("Retry-After"))
					said = "in use"
				}
				mu.Lock()
				defer mu.Unlock()
				seen[said]++
			})
		}
		close(start)
		wg.Wait()
		return seen
	}
	first := storm()
	require.LessOrEqual(t, len(first), 2, "one answer, or: try again: %v", first)
	require.Equal(t, 1, c.count(t)["deposits"])

	require.NoError(t, c.redis.FlushDB(t.Context()).Err())
	second := storm()
	delete(second, "in use")
	require.Len(t, second, 1)
	for body := range second {
		require.Contains(t, first, body)
	}
	require.Equal(t, 1, c.count(t)["deposits"])
	require.Equal(t, 1, c.count(t)["idempotency_keys"])
}

func TestIdempotency_FiftyAtOnce_WithoutRedis_MakeOneDeposit(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	require.NoError(t, c.redis.Close())
	key := newKey()
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if r := c.post("/deposits", draft(account), "idempotency-key", key); r.status != 201 {
				r.refused(409, "idempotency_key_in_use")
			}
		})
	}
	wg.Wait()
	require.Equal(t, 1, c.count(t)["deposits"])
}

func TestIdempotency_SameMeaning_IsTheSameBody_AnotherIsRefused(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	key := newKey()
	with := func(body string) reply { return c.post("/deposits", body, "idempotency-key", key) }
	first := with(`{"accountId":"` + account +
		`","amount":70,"contractStartAt":"2030-08-01T15:00:00Z","contractEndAt":"2030-08-08T10:00:00Z"}`)
	first.ok(201)
	first.again(
		with(
			`{ "contractEndAt":"2030-08-08T10:00:00Z", "amount": 7.00e1 , "contractStartAt":"2030-08-01T15:00:00\u005a","accountId":"` + account + `"}`))
	for _, flushed := range []bool{false, true} {
		if flushed {
			require.NoError(t, c.redis.FlushDB(t.Context()).Err())
		}
		c.leavesNothing(t, func() {
			with(`{"accountId":"`+account+
				`","amount":70.01,"contractStartAt":"2030-08-01T15:00:00Z","contractEndAt":"2030-08-08T10:00:00Z"}`).refused(422,
				"idempotency_key_reused")
			with(`{}`).refused(422, "idempotency_key_reused") // the key is checked before the field shapes
			with(raw(account, "amount", "0.001")).refused(422, "idempotency_key_reused")
			with(`{"broken`).refused(400, "invalid_json") // and JSON is checked before the key
		})
	}
}

func TestIdempotency_RefusedRequest_LeavesTheKeyFree(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	key := newKey()
	for _, body := range []any{object{}, draft(account, "amount", 1), draft(account, "amount", "x"), draft("acct_x"),
		`{"broken`} {
		r := c.post("/deposits", body, "idempotency-key", key)
		require.GreaterOrEqual(t, r.status, 400)
		require.Empty(t, r.header.Get(replayed))
	}
	require.Zero(t, c.count(t)["idempotency_keys"])
	c.post("/deposits", draft(account), "idempotency-key", key).ok(201)
	require.Equal(t, 1, c.count(t)["deposits"])
}

func TestIdempotency_Scope_IsPartnerRouteAndKey(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	other := c.world.caller(t, "other")
	theirs := other.link("hotel-1")
	key := newKey()
	first := c.post("/deposits", draft(account), "idempotency-key", key)
	first.ok(201)
	require.Empty(t, other.post("/deposits", draft(theirs), "idempotency-key", key).header.Get(replayed))
	c.post("/clients", object{"accountId": account, "email": "a@b.example", "firstName": "A", "lastName": "B"},
		"idempotency-key", key).ok(201)
	for range 2 {
		c.post("/deposits/"+c.created(account)+"/cancel", nil, "idempotency-key", key).ok(200)
	}
	first.again(c.post("/deposits", draft(account), "idempotency-key", key))
}

func TestIdempotency_BadKeys(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	c.leavesNothing(t, func() {
		for _, bad := range []string{"1", "3f1c9a52-7c3e-1b0e-9a55-0d7f2b6a1e84", "3f1c9a527c3e4b0e9a550d7f2b6a1e84",
			"not-a-uuid-but-36-characters-long-abc", `"`} {
			c.post("/deposits", draft(account), "idempotency-key", bad).refused(400, "invalid_idempotency_key")
			c.post("/deposits", object{}, "idempotency-key", bad).refused(400, "invalid_idempotency_key")
		}
	})
	// A route without keys ignores an Idempotency-Key.
	c.get("/deposits", "idempotency-key", "nonsense").list()
	hook := text(t, c.post("/webhooks", object{"url": "https://93.184.216.34/"}).ok(201), "id")
	key := newKey()
	one := c.post("/webhooks/"+hook+"/rotate-secret", nil, "idempotency-key", key).ok(200)
	two := c.post("/webhooks/"+hook+"/rotate-secret", nil, "idempotency-key", key).ok(200)
	require.NotEqual(t, one["secret"], two["secret"])
}

func TestIdempotency_AfterADay_TheKeyIsNew(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	key := newKey()
	first := c.post("/deposits", draft(account), "idempotency-key", key)
	c.clock.advance(24*time.Hour - time.Minute)
	first.again(c.post("/deposits", draft(account), "idempotency-key", key))
	c.clock.advance(time.Minute)
	second := c.post("/deposits", draft(account), "idempotency-key", key)
	second.ok(201)
	require.Empty(t, second.header.Get(replayed))
	require.Equal(t, 2, c.count(t)["deposits"])
}

func TestIdempotency_WhatIsKept_IsNotReadable(t *testing.T) {
	t.Parallel()
	c, _ := newStory(t)
	made := c.post("/webhooks", object{"url": "https://93.184.216.34/"}, "idempotency-key", newKey()).ok(201)
	var kept []byte
	require.NoError(t, c.Pool.QueryRow(t.Context(), `SELECT response FROM idempotency_keys`).Scan(&kept))
	require.NotContains(t, string(kept), "svc_whsec_")
	for _, name := range c.redis.Keys(t.Context(), "svc:idempotency:*").Val() {
		require.NotContains(t, c.redis.Get(t.Context(), name).Val(), text(t, made, "secret"))
	}
}

func TestIdempotency_IsCounted(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	key := newKey()
	for _, k := range []struct {
		body   object
		result idempotent.Result
	}{
		{object{}, idempotent.Refused}, {draft(account), idempotent.Executed}, {draft(account), idempotent.Replayed},
		{draft(account, "amount", 71), idempotent.Reused},
	} {
		c.post("/deposits", k.body, "idempotency-key", key)
		require.Equal(t, k.result, <-c.results)
	}
	c.post("/deposits", draft(account))
	require.Empty(t, c.results)
}
