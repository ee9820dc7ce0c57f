package partnerapi_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/servicetest"
)

func TestDelivery_ThatFailed_NamesItsReason_InListAndRecord(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	hook := c.failures(account, 1)
	c.simulated(c.created(account), "activate")
	c.relay(webhook.Waiting)
	c.do(http.MethodPatch, hook, object{"enabled": false}).ok(200) // parks the second delivery
	ended, err := c.Postgres.Retention.EndParkedDeliveries(t.Context(), c.clock.Now().Add(time.Hour), 10)
	require.NoError(t, err)
	require.Len(t, ended, 1)

	found := c.get(hook + "/deliveries?status=failed").list()
	require.Len(t, found, 2)
	for i, want := range []string{"webhook_disabled", "attempts_exhausted"} {
		require.Equal(t, want, found[i]["failureReason"])
		require.Equal(t, want, c.get(hook + "/deliveries/" + text(t, found[i], "id")).ok(200)["failureReason"])
	}
	require.EqualValues(t, 0, found[0]["attemptCount"])
}

// A success that is recorded after the delivery was given up makes the delivery a success.
func TestDelivery_ThatSucceededLate_HasNoFailureReason(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	hook := c.hook()
	c.simulated(c.created(account), "activate")
	claim := c.relay(webhook.Dispatched)[0]
	require.NoError(t,
		c.record(claim, webhook.Attempt{Result: webhook.ResultTimeout}, webhook.Verdict{State: webhook.Failed}))
	require.Equal(t, "attempts_exhausted", c.get(hook + "/deliveries").list()[0]["failureReason"])
	require.NoError(t, c.record(claim, webhook.Attempt{Result: webhook.ResultSuccess, ResponseStatus: 200},
		webhook.Verdict{State: webhook.Succeeded}))
	late := c.get(hook + "/deliveries").list()[0]
	require.Equal(t, "succeeded", late["status"])
	require.NotContains(t, late, "failureReason")
}

func TestWebhookTest_SubscriptionDeletedMeanwhile_FailsWithItsReason(t *testing.T) {
	t.Parallel()
	var remove func()
	c, _ := newStory(t, func(s *servicetest.Setup) {
		s.Parts = func(p *servicetest.Parts) {
			p.After = func(d time.Duration) <-chan time.Time {
				if d < webhook.Freshness { // the pause between two reads of the delivery
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
