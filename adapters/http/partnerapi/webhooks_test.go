package partnerapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const hookURL = "https://93.184.216.34/hook"

func (c *caller) hook(events ...string) string {
	c.t.Helper()
	body := object{"url": hookURL}
	if events != nil {
		body["events"] = events
	}
	return "/webhooks/" + text(c.t, c.post("/webhooks", body).ok(201), "id")
}

func TestWebhooks_SixteenAtMost(t *testing.T) {
	t.Parallel()
	c, _ := newStory(t)
	var last string
	for range 16 {
		last = c.hook()
	}
	c.leavesNothing(t, func() {
		c.post("/webhooks", object{"url": hookURL}, "idempotency-key", newKey()).refused(409, "webhook_limit_reached")
	})
	require.Len(t, c.get("/webhooks").list(), 16)
	require.Equal(t, 204, c.do(http.MethodDelete, last, nil).status)
	c.do(http.MethodDelete, last, nil).refused(404, "webhook_not_found")
	c.get(last).refused(404, "webhook_not_found")
	c.hook()
}

func TestWebhooks_Patch(t *testing.T) {
	t.Parallel()
	c, _ := newStory(t)
	hook := c.hook("deposit.activated", "deposit.activated", "deposit.expired")
	before := c.get(hook).ok(200)
	require.Equal(t, []any{"deposit.activated", "deposit.expired"}, before["events"])
	patch := func(body object) object {
		t.Helper()
		return c.do(http.MethodPatch, hook, body).ok(200)
	}
	require.Equal(t, before, patch(object{}))
	off := patch(object{"enabled": false})
	require.Equal(t, []any{false, "disabled_by_partner"}, []any{off["enabled"], off["disabledReason"]})
	require.Equal(t, before, patch(object{"enabled": true}))
	moved := patch(object{"url": "https://93.184.216.34/other"})
	require.Equal(t, "https://93.184.216.34/other", moved["url"])
	require.Equal(t, before["events"], moved["events"])
	c.leavesNothing(t, func() {
		for _, bad := range []object{{"url": "http://93.184.216.34/"}, {"url": "https://10.0.0.1/"}, {"events": []string{}}, {"events": []string{"x"}}, {"enabled": 1}} {
			c.do(http.MethodPatch, hook, bad).refused(400, "invalid_field")
		}
	})
	require.Equal(t, moved, c.get(hook).ok(200))
}

func TestWebhookTest_Refusals(t *testing.T) {
	t.Parallel()
	c, _ := newStory(t)
	deaf, off := c.hook("deposit.captured", "rental_operator.linked"), c.hook()
	c.do(http.MethodPatch, off, object{"enabled": false}).ok(200)
	c.leavesNothing(t, func() {
		c.post(deaf+"/test", nil).refused(409, "test_event_not_subscribed")
		c.post(off+"/test", nil).refused(409, "webhook_disabled")
	})
}

func TestWebhookTest_SendsTheMostSpecificEvent_WithARealDepositsShape(t *testing.T) {
	t.Parallel()
	c, _ := newStory(t)
	ids := map[string]bool{}
	for events, want := range map[string]string{
		"deposit.status_changed":                   "deposit.status_changed",
		"deposit.activated":                        "deposit.activated",
		"deposit.status_changed,deposit.activated": "deposit.activated",
	} {
		hook := c.hook(strings.Split(events, ",")...)
		rings := c.rings.Load()
		done := c.dispatch(`WITH d AS (UPDATE deliveries SET state = 3, attempts = 1, due_at = NULL, finished_at = now() WHERE state = 0 RETURNING id)
			INSERT INTO delivery_attempts (delivery_id, number, started_at, duration_ms, result, response_status, snippet) SELECT id, 1, now(), 12, 'non_2xx', 500, 'oh no' FROM d`)
		got := c.post(hook+"/test", nil).ok(200)
		require.NoError(t, <-done)
		require.Greater(t, c.rings.Load(), rings, "the dispatcher is woken")
		require.Equal(t, []any{"failed", want, true, 1.0}, []any{got["status"], got["event"], got["test"], got["attemptCount"]})
		attempts, _ := got["attempts"].([]any)
		require.Len(t, attempts, 1)
		attempt, _ := attempts[0].(object)
		require.Equal(t, []any{1.0, 12.0, 500.0, "oh no", "non_2xx"}, []any{attempt["number"], attempt["durationMs"], attempt["responseStatus"], attempt["responseSnippet"], attempt["error"]})

		body := text(t, c.get(hook+"/deliveries/"+text(t, got, "id")).ok(200), "body")
		c.contract.CheckWebhook(t, []byte(body))
		var payload struct {
			Event string
			Data  struct{ ID, Status, PreviousStatus string }
		}
		require.NoError(t, json.Unmarshal([]byte(body), &payload))
		require.Equal(t, []string{want, "active", "pending"}, []string{payload.Event, payload.Data.Status, payload.Data.PreviousStatus})
		require.Regexp(t, `^dep_test_[0-9a-z]{26}$`, payload.Data.ID)
		require.Equal(t, payload.Data.ID, got["depositId"])
		require.Len(t, c.get(hook+"/deliveries?depositId="+payload.Data.ID).list(), 1)
		ids[payload.Data.ID] = true
	}
	require.Len(t, ids, 3)
}

func TestWebhookTest_NoDispatcher_IsPendingAfterTwelveSeconds(t *testing.T) {
	t.Parallel()
	twelveSeconds := make(chan time.Time, 1)
	var looks atomic.Int64
	c, _ := newStory(t, func(s *settings) {
		s.after = func(d time.Duration) <-chan time.Time { // time flies: the twelve seconds are over with the fifth look
			if d == 12*time.Second {
				return twelveSeconds
			}
			if looks.Add(1) == 5 {
				twelveSeconds <- time.Time{}
			}
			over := make(chan time.Time, 1)
			over <- time.Time{}
			return over
		}
	})
	got := c.post(c.hook()+"/test", nil).ok(200)
	require.Equal(t, []any{"pending", 0.0}, []any{got["status"], got["attemptCount"]})
	require.NotEmpty(t, got["nextAttemptAt"])
	require.GreaterOrEqual(t, looks.Load(), int64(5))
}

func TestDeliveries_FiltersAndPages(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	hook := c.hook()
	d := c.created(account)
	insert := `INSERT INTO deliveries (id, subscription_id, event_id, event, deposit_id, state, attempts, due_at, body, event_at, created_at, finished_at)
		SELECT gen_random_uuid(), (SELECT id FROM webhook_subscriptions), gen_random_uuid(), $1, (SELECT id FROM deposits), $2::int, $3,
			CASE WHEN $2::int < 2 THEN now() + interval '1 hour' END, '{}', now(), now() - $4::int * interval '1 minute', CASE WHEN $2::int >= 2 THEN now() END`
	for i, k := range []struct {
		event    string
		state    int
		attempts int
	}{{"deposit.activated", 2, 1}, {"deposit.activated", 0, 0}, {"deposit.captured", 0, 3}, {"deposit.captured", 3, 11}, {"deposit.expired", 1, 1}} {
		_, err := c.pool.Exec(t.Context(), insert, k.event, k.state, k.attempts, i)
		require.NoError(t, err)
	}
	for query, n := range map[string]int{
		"": 5, "status=succeeded": 1, "status=pending": 1, "status=retrying": 2, "status=failed": 1, "event=deposit.captured": 2,
		"event=deposit.captured&status=failed": 1, "depositId=" + d: 5, "from=2000-01-01T00:00:00Z": 5, "to=2000-01-01T00:00:00Z": 0,
	} {
		require.Len(t, c.get(hook+"/deliveries?"+query).list(), n, query)
	}
	for _, bad := range []string{"status=waiting", "event=x", "from=x", "limit=0"} {
		c.get(hook+"/deliveries?"+bad).refused(400, "invalid_field")
	}
	var seen []object
	path := hook + "/deliveries?limit=2"
	for path != "" {
		r := c.get(path)
		seen = append(seen, r.list()...)
		path = ""
		if next := r.parsed().Pagination.NextCursor; next != nil {
			path = fmt.Sprintf("%s/deliveries?limit=2&cursor=%s", hook, *next)
		}
	}
	require.Equal(t, c.get(hook+"/deliveries").list(), seen)
	for _, one := range seen {
		_, due := one["nextAttemptAt"]
		require.Equal(t, one["event"] != "deposit.expired" && one["status"] != "succeeded" && one["status"] != "failed", due, "the end of a lease is nobody's business")
	}
}

func TestRotateSecret_TheOldOneIsGone(t *testing.T) {
	t.Parallel()
	c, _ := newStory(t)
	made := c.post("/webhooks", object{"url": hookURL}).ok(201)
	rotated := c.post("/webhooks/"+text(t, made, "id")+"/rotate-secret", nil).ok(200)
	require.NotEqual(t, made["secret"], rotated["secret"])
	require.Equal(t, []any{made["id"], made["url"], made["events"]}, []any{rotated["id"], rotated["url"], rotated["events"]})
	require.NotContains(t, string(c.get("/webhooks").body), "secret")
}
