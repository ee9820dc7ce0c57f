package partnerapi_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/platform/idempotent"
)

// The contract walk repeats every keyed operation. app/platform/idempotent and the stores prove what a key means.

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

// One request of each outcome, in other words of the same meaning, and without Redis: the wiring of the executor.
func TestIdempotency_EachOutcome_IsAnsweredAndCounted(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	key := newKey()
	with := func(body any) reply { return c.post("/deposits", body, "idempotency-key", key) }
	const said = `{"accountId":"@","amount":%,"contractStartAt":"2030-08-01T15:00:00\u005a",` +
		`"contractEndAt":"2030-08-08T10:00:00Z"}`
	amount := func(literal string) string { return strings.NewReplacer("@", account, "%", literal).Replace(said) }
	with(object{}).refused(400, "missing_field")
	first := with(amount("70"))
	first.ok(201)
	first.again(with(amount(" 7.00e1 ")))
	with(amount("70.01")).refused(422, "idempotency_key_reused")
	for _, want := range []idempotent.Result{idempotent.ResultUseCaseRefused, idempotent.ResultExecuted,
		idempotent.ResultReplayed,
		idempotent.ResultKeyReused} {
		require.Equal(t, want, <-c.results)
	}
	c.post("/deposits", draft(account)).ok(201)
	require.Empty(t, c.results, "only keyed requests are counted")
	require.NoError(t, c.redis.Close())
	first.again(with(amount("70")))
	c.post("/deposits", draft(account), "idempotency-key", newKey()).ok(201)
	require.Equal(t, 3, c.Count("deposits", ""))
}

// A repeated POST without keys happens again: no stored response holds a new secret.
func TestIdempotency_ARouteWithoutKeys_IgnoresTheHeader(t *testing.T) {
	t.Parallel()
	c, _ := newStory(t)
	hook := c.hook()
	key := newKey()
	for _, sent := range []string{key, key, "nonsense"} {
		c.get("/deposits", "idempotency-key", sent).list()
	}
	for field, path := range map[string]string{"key": "/api-keys", "secret": hook + "/rotate-secret"} {
		var body any
		if field == "key" {
			body = object{"name": "x"}
		}
		first, second := c.post(path, body, "idempotency-key", key), c.post(path, body, "idempotency-key", key)
		require.Less(t, first.status, 300, "%s", first.body)
		require.NotEqual(t, first.ok(first.status)[field], second.ok(first.status)[field])
		require.Empty(t, second.header.Get(replayed))
	}
	require.Zero(t, c.Count("idempotency_keys", ""))
}
