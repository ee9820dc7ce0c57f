package partnerapi_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/servicetest"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
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

func TestWebhooks_AtAPortOfAnotherService_AreRefused(t *testing.T) {
	t.Parallel()
	c, _ := newStory(t, func(s *servicetest.Setup) { s.Config.WebhookBlockedPorts = []uint16{22, 6379} })
	hook := c.hook()
	c.leavesNothing(t, func() {
		for _, port := range []string{"22", "6379", "0", "65536"} {
			bad := object{"url": "https://93.184.216.34:" + port + "/hook"}
			for _, sent := range []reply{c.post("/webhooks", bad), c.do(http.MethodPatch, hook, bad)} {
				require.Contains(t, sent.refused(400, "invalid_field"), "url: has the port "+port+", which is")
			}
		}
	})
	c.do(http.MethodPatch, hook, object{"url": "https://93.184.216.34:8443/hook"}).ok(200)
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
	require.Equal(t, "disabled", healthIn(t, off)["state"])
	on := patch(object{"enabled": true})
	require.Equal(t, "healthy", healthIn(t, on)["state"])
	require.Greater(t, text(t, healthIn(t, on), "since"), text(t, healthIn(t, off), "since"))
	before["health"] = on["health"]
	require.Equal(t, before, on)
	moved := patch(object{"url": "https://93.184.216.34/other"})
	require.Equal(t, "https://93.184.216.34/other", moved["url"])
	require.Equal(t, before["events"], moved["events"])
	c.leavesNothing(t, func() {
		for _, bad := range []object{{"url": "http://93.184.216.34/"}, {"url": "https://10.0.0.1/"}, {"events": []string{}},
			{"events": []string{"x"}}, {"enabled": 1}} {
			c.do(http.MethodPatch, hook, bad).refused(400, "invalid_field")
		}
	})
	require.Equal(t, moved, c.get(hook).ok(200))
}

func TestWebhooks_Signatures_OursCannotBeLeftOut(t *testing.T) {
	t.Parallel()
	c, _ := newStory(t)
	both, ours := []any{"svc", "standard"}, []any{"svc"}
	made := c.post("/webhooks", object{"url": hookURL, "signatures": both}).ok(201)
	require.Equal(t, both, made["signatures"])
	hook := "/webhooks/" + text(t, made, "id")
	require.Equal(t, both, c.get(hook).ok(200)["signatures"])
	require.Equal(t, both, c.get("/webhooks").list()[0]["signatures"])
	require.Equal(t, both, c.do(http.MethodPatch, hook, object{"enabled": true}).ok(200)["signatures"])
	patch := func(signatures ...string) any {
		return c.do(http.MethodPatch, hook, object{"signatures": signatures}).ok(200)["signatures"]
	}
	require.Equal(t, ours, patch("svc", "svc"))
	require.Equal(t, both, patch("standard", "svc"))
	require.Equal(t, ours, c.get(c.hook()).ok(200)["signatures"])
	c.leavesNothing(t, func() {
		for _, bad := range []any{[]string{}, []string{"standard"}, []string{"svc", "other"}, "svc", nil} {
			for _, sent := range []reply{c.post("/webhooks", object{"url": hookURL, "signatures": bad}),
				c.do(http.MethodPatch, hook, object{"signatures": bad})} {
				require.Contains(t, sent.refused(400, "invalid_field"), "signatures")
			}
		}
	})
	require.Equal(t, both, c.get(hook).ok(200)["signatures"])
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
		done := c.dispatch(webhook.Attempt{Result: webhook.ResultNon2xx, ResponseStatus: 500, Snippet: "oh no",
			Duration: 12 * time.Millisecond})
		got := c.post(hook+"/test", nil).ok(200)
		require.NoError(t, <-done)
		require.Greater(t, c.rings.Load(), rings, "the dispatcher is woken")
		require.Equal(t, []any{"failed", want, true, 1.0},
			[]any{got["status"], got["event"], got["test"], got["attemptCount"]})
		attempts, _ := got["attempts"].([]any)
		require.Len(t, attempts, 1)
		attempt, _ := attempts[0].(object)
		require.Equal(t, []any{1.0, 12.0, 500.0, "oh no", "non_2xx"}, []any{attempt["number"], attempt["durationMs"],
			attempt["responseStatus"], attempt["responseSnippet"], attempt["error"]})

		body := text(t, c.get(hook+"/deliveries/"+text(t, got, "id")).ok(200), "body")
		c.contract.CheckWebhook(t, []byte(body))
		var payload struct {
			Event string
			Data  struct{ ID, Status, PreviousStatus string }
		}
		require.NoError(t, json.Unmarshal([]byte(body), &payload))
		require.Equal(t, []string{want, "active", "pending"},
			[]string{payload.Event, payload.Data.Status, payload.Data.PreviousStatus})
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
	c, _ := newStory(t, func(s *servicetest.Setup) {
		s.Parts = func(p *servicetest.Parts) {
			p.After = func(d time.Duration) <-chan time.Time { // a fast clock: the twelve seconds are over at the fifth read
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
		}
	})
	got := c.post(c.hook()+"/test", nil).ok(200)
	require.Equal(t, []any{"pending", 0.0}, []any{got["status"], got["attemptCount"]})
	require.NotEmpty(t, got["nextAttemptAt"])
	require.GreaterOrEqual(t, looks.Load(), int64(5))
}

const lease = 30 * time.Second

// record stores the attempt of a claimed delivery, in place of the dispatcher.
func (c *caller) record(claim webhookports.Claim, attempt webhook.Attempt, verdict webhook.Verdict) error {
	attempt.Number, attempt.StartedAt = 1, c.clock.Now()
	_, _, err := c.work.Record(c.t.Context(), []webhookports.Outcome{
		{Delivery: &webhookports.Delivery{Claim: claim}, Attempt: attempt, Verdict: verdict}}, nil, 8, time.Now())
	return err
}

// dispatch replaces the dispatcher: it waits for a test delivery and stores the result of the attempt.
func (c *caller) dispatch(attempt webhook.Attempt) <-chan error {
	done := make(chan error, 1)
	go func() {
		for {
			claims, _, err := c.work.ClaimUrgent(c.t.Context(), 1, lease)
			if err == nil && len(claims) == 1 {
				err = c.record(claims[0], attempt, webhook.DefaultSchedule.Judge(attempt, true, 0.5))
			}
			if err != nil || len(claims) == 1 {
				done <- err
				return
			}
			runtime.Gosched()
		}
	}()
	return done
}

// relay moves the outbox into deliveries, gives the n-th delivery the n-th state, and returns the claims.
func (c *caller) relay(states ...webhook.State) []webhookports.Claim {
	c.t.Helper()
	relayed, claims, err := c.work.Relay(c.t.Context(), 100, lease,
		func(events []ports.Event, subscriptions []webhookports.Subscription) (out []webhookports.Delivery) {
			slices.SortFunc(events, func(a, b ports.Event) int { return bytes.Compare(a.ID[:], b.ID[:]) })
			for i := range events {
				name, _ := webhook.Route(subscriptions[0].Events, events[i].Name)
				planned := webhookports.NewDelivery(&events[i], subscriptions[0].ID, name,
					webhook.Render(name, deposit.Timestamp(events[i].CreatedAt), events[i].Data))
				planned.State = states[i]
				out = append(out, planned)
			}
			return out
		}, nil)
	require.NoError(c.t, err)
	require.Equal(c.t, len(states), relayed)
	slices.SortFunc(claims, func(a, b webhookports.Claim) int { return bytes.Compare(a.DeliveryID[:], b.DeliveryID[:]) })
	return claims
}

func TestDeliveries_FiltersAndPages(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	hook := c.hook()
	var about []string
	for _, outcome := range []string{"activate", "activate", "abandon", "decline", "fail_payment"} {
		d := c.created(account)
		c.simulated(d, outcome)
		about = append(about, d)
	}
	claims := c.relay(webhook.Dispatched, webhook.Waiting, webhook.Dispatched, webhook.Dispatched, webhook.Dispatched)
	require.Len(t, claims, 4)
	bad := webhook.Attempt{Result: webhook.ResultTimeout, Duration: 10 * time.Second}
	require.NoError(t, c.record(claims[0], webhook.Attempt{Result: webhook.ResultSuccess, ResponseStatus: 200,
		Snippet: "ok"}, webhook.Verdict{State: webhook.Succeeded}))
	require.NoError(t, c.record(claims[1], bad, webhook.Verdict{State: webhook.Waiting, Wait: time.Hour}))
	require.NoError(t, c.record(claims[2], bad, webhook.Verdict{State: webhook.Failed}))

	for query, n := range map[string]int{
		"": 5, "status=succeeded": 1, "status=pending": 2, "status=retrying": 1, "status=failed": 1,
		"event=deposit.cancelled": 2, "event=deposit.expired": 0,
		"event=deposit.cancelled&status=failed": 1, "event=deposit.status_changed": 1, "depositId=" + about[0]: 1,
		"from=2000-01-01T00:00:00Z": 5, "to=2000-01-01T00:00:00Z": 0,
		"from=1900-01-01T00:00:00Z": 5, "to=1900-01-01T00:00:00Z": 0, "from=0001-01-01T00:00:00Z": 5,
		"to=0001-01-01T00:00:00Z": 0, "from=9999-12-31T23:59:59Z": 0,
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
	slices.Reverse(seen) // oldest first
	for i, want := range []struct {
		status string
		due    bool
		result any
		reason any
	}{{"succeeded", false, nil, nil}, {"pending", true, nil, nil}, {"retrying", true, "timeout", nil},
		{"failed", false, "timeout", "attempts_exhausted"}, {"pending", false, nil, nil}} {
		_, due := seen[i]["nextAttemptAt"] // the end of a lease is not public
		require.Equal(t, want.reason, seen[i]["failureReason"], i)
		require.Equal(t, []any{about[i], want.status, want.due}, []any{seen[i]["depositId"], seen[i]["status"], due}, i)
		attempts, _ := seen[i]["attempts"].([]any)
		require.EqualValues(t, seen[i]["attemptCount"], len(attempts))
		if want.result != nil {
			attempt, _ := attempts[0].(object)
			require.Equal(t, want.result, attempt["error"])
		}
		body := text(t, c.get(hook+"/deliveries/"+text(t, seen[i], "id")).ok(200), "body")
		require.Equal(t, fmt.Sprintf("%x", sha256.Sum256([]byte(body))), seen[i]["bodySha256"])
		c.contract.CheckWebhook(t, []byte(body))
	}
	require.NotEmpty(t, seen[0]["deliveredAt"])
}

func TestRotateSecret_TheOldOneIsGone(t *testing.T) {
	t.Parallel()
	c, _ := newStory(t)
	made := c.post("/webhooks", object{"url": hookURL}).ok(201)
	rotated := c.post("/webhooks/"+text(t, made, "id")+"/rotate-secret", nil).ok(200)
	require.NotEqual(t, made["secret"], rotated["secret"])
	require.Equal(t, []any{made["id"], made["url"], made["events"]},
		[]any{rotated["id"], rotated["url"], rotated["events"]})
	require.NotContains(t, string(c.get("/webhooks").body), "secret")
}
