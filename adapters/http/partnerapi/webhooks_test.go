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
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/partners"
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

// The target is checked at a creation and at a change.
func TestWebhooks_AtAnotherServiceOrAPrivateAddress_AreRefused(t *testing.T) {
	t.Parallel()
	c, _ := newStory(t, func(s *servicetest.Setup) { s.Config.WebhookBlockedPorts = []uint16{22, 6379} })
	hook := c.hook()
	c.leavesNothing(t, func() {
		for url, message := range map[string]string{
			"https://93.184.216.34:6379/hook": "url: has the port 6379, which is", "http://93.184.216.34/": "url: must be https",
			"nonsense": "url: is not an absolute URL", "https://127.0.0.1/": "url: leads to an address that is not public",
			"https://[::ffff:10.0.0.1]/":               "url: leads to an address that is not public",
			"https://169.254.169.254/latest/meta-data": "url: leads to an address that is not public",
		} {
			for _, sent := range []reply{c.post("/webhooks", object{"url": url}),
				c.do(http.MethodPatch, hook, object{"url": url})} {
				require.Contains(t, sent.refused(400, "invalid_field"), message)
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

// deliveredBody checks that a delivery has the documented bytes whose hash it tells, and gives them.
func (c *caller) deliveredBody(hook string, delivery object) []byte {
	c.t.Helper()
	body := []byte(text(c.t, c.get(hook+"/deliveries/"+text(c.t, delivery, "id")).ok(200), "body"))
	require.Equal(c.t, fmt.Sprintf("%x", sha256.Sum256(body)), delivery["bodySha256"])
	c.contract.CheckWebhook(c.t, body)
	return body
}

func TestWebhookTest_SendsARealDepositsShape(t *testing.T) {
	t.Parallel()
	_, other := contractWorld(t) // no dispatcher is waited for
	c := other.stage(t)
	hook := c.hook("deposit.status_changed", "deposit.activated")
	sent := c.post(hook+"/test", nil).ok(200)
	var payload struct {
		Event string
		Data  struct{ ID, Status, PreviousStatus string }
	}
	body := c.deliveredBody(hook, sent)
	require.NoError(t, json.Unmarshal(body, &payload))
	require.Equal(t, []any{"deposit.activated", "active", "pending", sent["depositId"]},
		[]any{payload.Event, payload.Data.Status, payload.Data.PreviousStatus, payload.Data.ID}, "the most specific event")
	require.Contains(t, string(body), `,"version":2,"capturedAmountCents":null}`)
}

func TestWebhookTest_NoDispatcher_IsPendingAfterTwelveSeconds(t *testing.T) {
	t.Parallel()
	twelveSeconds := make(chan time.Time, 1)
	var looks atomic.Int64
	c, _ := newStory(t, func(s *servicetest.Setup) {
		s.Parts = func(p *servicetest.Deps) {
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
func (c *caller) record(claim webhookports.Claim, attempt webhook.Attempt, verdict webhook.DeliveryVerdict) error {
	attempt.Number, attempt.StartedAt = 1, c.clock.Now()
	_, _, err := c.work.RecordOutcomes(c.t.Context(), []webhookports.AttemptOutcome{
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
				err = c.record(claims[0], attempt, webhook.DefaultRetrySchedule.JudgeAttempt(attempt, true, 0.5))
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
func (c *caller) relay(states ...webhook.DeliveryState) []webhookports.Claim {
	c.t.Helper()
	relayed, claims, err := c.work.Relay(c.t.Context(), 100, lease,
		func(events []ports.Event, subscriptions []webhookports.Subscription) (out []webhookports.Delivery) {
			slices.SortFunc(events, func(a, b ports.Event) int { return bytes.Compare(a.ID[:], b.ID[:]) })
			for i := range events {
				name, _ := webhook.ChooseEventName(subscriptions[0].Events, events[i].Name)
				planned := webhookports.NewDelivery(&events[i], subscriptions[0].ID, name,
					webhook.RenderBody(name, deposit.FormatTimestamp(events[i].CreatedAt), events[i].Data))
				planned.State = states[i]
				out = append(out, planned)
			}
			return out
		})
	require.NoError(c.t, err)
	require.Equal(c.t, len(states), relayed)
	slices.SortFunc(claims, func(a, b webhookports.Claim) int { return bytes.Compare(a.DeliveryID[:], b.DeliveryID[:]) })
	return claims
}

func TestDeliveries_Filters(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	hook := c.hook()
	var about []string
	for _, outcome := range []string{"activate", "activate", "abandon", "decline", "fail_payment"} {
		d := c.created(account)
		c.simulated(d, outcome)
		about = append(about, d)
	}
	claims := c.relay(webhook.DeliveryStateDispatched, webhook.DeliveryStateWaiting, webhook.DeliveryStateDispatched,
		webhook.DeliveryStateDispatched,
		webhook.DeliveryStateDispatched)
	require.Len(t, claims, 4)
	bad := webhook.Attempt{Result: webhook.ResultTimeout, Duration: 10 * time.Second}
	require.NoError(t, c.record(claims[0], webhook.Attempt{Result: webhook.ResultSuccess, ResponseStatus: 200,
		Snippet: "ok"}, webhook.DeliveryVerdict{State: webhook.DeliveryStateSucceeded}))
	require.NoError(t, c.record(claims[1], bad, webhook.DeliveryVerdict{State: webhook.DeliveryStateWaiting,
		Wait: time.Hour}))
	require.NoError(t, c.record(claims[2], bad, webhook.DeliveryVerdict{State: webhook.DeliveryStateFailed}))

	for query, n := range map[string]int{
		"": 5, "status=succeeded": 1, "status=pending": 2, "status=retrying": 1, "status=failed": 1,
		"event=deposit.cancelled": 2, "event=deposit.expired": 0,
		"event=deposit.cancelled&status=failed": 1, "event=deposit.status_changed": 1, "depositId=" + about[0]: 1,
		"from=1900-01-01T00:00:00Z": 5, "to=1900-01-01T00:00:00Z": 0, "from=0001-01-01T00:00:00Z": 5,
		"to=0001-01-01T00:00:00Z": 0, "from=9999-12-31T23:59:59Z": 0,
	} {
		require.Len(t, c.get(hook+"/deliveries?"+query).list(), n, query)
	}
	found := c.get(hook + "/deliveries").list()
	slices.Reverse(found) // oldest first
	for i, want := range []struct {
		status string
		due    bool // the end of a lease is not public
		reason any
	}{{"succeeded", false, nil}, {"pending", true, nil}, {"retrying", true, nil}, {"failed", false, "attempts_exhausted"},
		{"pending", false, nil}} {
		_, due := found[i]["nextAttemptAt"]
		require.Equal(t, []any{about[i], want.status, want.due, want.reason},
			[]any{found[i]["depositId"], found[i]["status"], due, found[i]["failureReason"]}, i)
		c.deliveredBody(hook, found[i])
	}
	require.NotEmpty(t, found[0]["deliveredAt"])
	made := text(t, found[2], "createdAt")
	require.Contains(t, ids(c.get(hook+"/deliveries?from="+made).list()), found[2]["id"], "from is included")
	require.NotContains(t, ids(c.get(hook+"/deliveries?to="+made).list()), found[2]["id"])
	for _, query := range []string{"", "?depositId=" + about[0]} {
		require.Empty(t, c.get(c.hook()+"/deliveries"+query).list(), "of another subscription")
	}

	// A success that is recorded after the delivery was given up makes the delivery a success.
	require.NoError(t, c.record(claims[2], webhook.Attempt{Result: webhook.ResultSuccess, ResponseStatus: 200},
		webhook.DeliveryVerdict{State: webhook.DeliveryStateSucceeded}))
	late := c.get(hook + "/deliveries/" + text(t, found[3], "id")).ok(200)
	require.Equal(t, []any{"succeeded", nil}, []any{late["status"], late["failureReason"]})
}

func healthIn(t *testing.T, hook object) object {
	t.Helper()
	health, ok := hook["health"].(object)
	require.True(t, ok, "%v", hook)
	return health
}

// A delivery that waits, fails and is parked shows in the health of its endpoint.
func TestWebhooks_ShowTheHealthOfTheirEndpoints(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	hook := c.hook()
	c.simulated(c.created(account), "activate")
	claim := c.relay(webhook.DeliveryStateDispatched)[0]
	waiting := healthIn(t, c.get(hook).ok(200))
	require.Equal(t, []any{"healthy", 1.0, nil}, []any{waiting["state"], waiting["pending"], waiting["pendingCapped"]})
	require.NotEmpty(t, waiting["oldestPendingAt"])
	_, err := c.Pool.Exec(t.Context(),
		`UPDATE webhook_subscriptions SET failures = 2, state_since = now(), last_success_at = now() - interval '1 hour',
			last_failure_at = now(), last_error = 'timeout'`)
	require.NoError(t, err)
	require.NoError(t, c.record(claim, webhook.Attempt{Result: webhook.ResultTimeout},
		webhook.DeliveryVerdict{State: webhook.DeliveryStateWaiting, Wait: time.Hour}))
	failing := c.get(hook).ok(200)
	health := healthIn(t, failing)
	require.Equal(t, []any{"failing", "timeout", 1.0}, []any{health["state"], health["lastError"], health["pending"]})
	require.Greater(t, text(t, health, "lastFailureAt"), text(t, health, "lastSuccessAt"))
	require.Equal(t, []object{failing}, c.get("/webhooks").list())
	parked := healthIn(t, c.do(http.MethodPatch, hook, object{"enabled": false}).ok(200))
	require.Equal(t, []any{"disabled", 1.0}, []any{parked["state"], parked["pending"]}, "a parked delivery is pending")
}

func TestWebhookTest_SubscriptionDeletedMeanwhile_FailsWithItsReason(t *testing.T) {
	t.Parallel()
	var remove func()
	c, _ := newStory(t, func(s *servicetest.Setup) {
		s.Parts = func(p *servicetest.Deps) {
			p.After = func(d time.Duration) <-chan time.Time {
				if d == time.Second { // the pause between two reads of the delivery
					remove()
				}
				return time.After(d)
			}
		}
	})
	hook := c.hook()
	remove = sync.OnceFunc(func() { c.do(http.MethodDelete, hook, nil) })
	got := c.post(hook+"/test", nil).ok(200)
	require.Equal(t, []any{"failed", "webhook_deleted", 0.0},
		[]any{got["status"], got["failureReason"], got["attemptCount"]})
}

// Refused ones count, too.
func TestWebhookTestsAndRedeliveries_HaveLimitsOfTheirOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, other := w.caller(t, "acme"), w.caller(t, "other")
	hook := c.hook()
	for _, limit := range []struct {
		path, name string
		perMinute  int
	}{
		{hook + "/test", "tests", partners.TestDeliveriesPerMinute},
		{hook + "/deliveries/dlv_unknown/redeliver", "redeliveries", partners.RedeliveriesPerMinute},
	} {
		path := strings.Replace(limit.path, hook, "/webhooks/pwh_unknown", 1)
		for range limit.perMinute {
			c.post(path, nil).refused(404, "webhook_not_found")
		}
		for _, path := range []string{path, limit.path} {
			refused := c.post(path, nil)
			refused.refused(429, "rate_limited")
			require.NotEmpty(t, refused.header.Get("Retry-After"))
			require.Contains(t, refused.header.Get("RateLimit-Policy"),
				fmt.Sprintf(`"%s";q=%d;w=60`, limit.name, limit.perMinute))
		}
		other.post(path, nil).refused(404, "webhook_not_found")
	}
	c.get(hook).ok(200)
	require.Zero(t, w.Count("deliveries", "true"))
}
