package partnerapi_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/webhook"
)

func healthIn(t *testing.T, hook object) object {
	t.Helper()
	health, ok := hook["health"].(object)
	require.True(t, ok, "%v", hook)
	return health
}

func TestWebhooks_ShowTheHealthOfTheirEndpoints(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	made := c.post("/webhooks", object{"url": hookURL}).ok(201)
	require.Equal(t, object{"state": "healthy", "since": made["createdAt"], "pending": 0.0}, made["health"])
	hook := "/webhooks/" + text(t, made, "id")
	delete(made, "secret")
	require.Equal(t, made, c.get(hook).ok(200), "the same after the creation")

	c.simulated(c.created(account), "activate")
	claims := c.relay(webhook.Dispatched)
	waiting := healthIn(t, c.get(hook).ok(200))
	require.Equal(t, []any{"healthy", 1.0, nil}, []any{waiting["state"], waiting["pending"], waiting["pendingCapped"]})
	require.NotEmpty(t, waiting["oldestPendingAt"])

	_, err := c.Pool.Exec(t.Context(),
		`UPDATE webhook_subscriptions SET failures = 2, state_since = now(), last_success_at = now() - interval '1 hour',
			last_failure_at = now(), last_error = 'timeout'`)
	require.NoError(t, err)
	require.NoError(t, c.record(claims[0], webhook.Attempt{Result: webhook.ResultTimeout},
		webhook.Verdict{State: webhook.Waiting, Wait: time.Hour}))
	failing := c.get(hook).ok(200)
	health := healthIn(t, failing)
	require.Equal(t, []any{"failing", "timeout", 1.0}, []any{health["state"], health["lastError"], health["pending"]})
	require.Greater(t, text(t, health, "lastFailureAt"), text(t, health, "lastSuccessAt"))
	require.Equal(t, []object{failing}, c.get("/webhooks").list())
	patched := c.do(http.MethodPatch, hook, object{"enabled": false}).ok(200)
	require.Equal(t, []any{"disabled", 1.0}, []any{healthIn(t, patched)["state"], healthIn(t, patched)["pending"]},
		"a parked delivery is pending")

	_, err = c.Pool.Exec(t.Context(), `INSERT INTO deliveries (subscription_id, id, event_id, event, state, body, event_at)
		SELECT subscription_id, gen_random_uuid(), gen_random_uuid(), event, 0, body, event_at
		FROM deliveries, generate_series(1, 10000)`)
	require.NoError(t, err)
	capped := healthIn(t, c.get(hook).ok(200))
	require.Equal(t, []any{10_000.0, true}, []any{capped["pending"], capped["pendingCapped"]})
}
