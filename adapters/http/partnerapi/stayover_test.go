package partnerapi_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
)

func TestCreate_StayThatIsOver_IsRefusedAndLeavesItsKeyFree(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	key, now := newKey(), c.clock.Now()
	moment := now.Format(time.RFC3339Nano)
	for name, stay := range map[string][]any{
		"a second ago":                 {"contractEndAt", now.Add(-time.Second).Format(time.RFC3339Nano)},
		"a moment, which is over":      {"contractEndAt", moment, "contractStartAt", moment},
		"of last year":                 {"contractEndAt", "2020-08-08T10:00:00+00:00"},
		"of the first day that exists": {"contractEndAt", "0001-01-01T00:00:00.001Z"},
		"without the link":             {"contractEndAt", "2020-08-08T10:00:00Z", "depositUrlGeneration", false},
		"with a link": {"contractEndAt", "2020-08-08T10:00:00Z", "depositUrlGeneration", true, "returnUrl",
			"https://x.example/"},
		"and an unknown client": {"contractEndAt", "2020-08-08T10:00:00Z", "clientId", "cli_x"},
	} {
		body := draft(account, append([]any{"contractStartAt", "0001-01-01T00:00:00.001Z"}, stay...)...)
		c.leavesNothing(t, func() {
			require.Equal(t, "contractEndAt: has passed: the stay is over",
				c.post("/deposits", body, "idempotency-key", key).refused(400, "invalid_date_range"), name)
		})
	}
	begun := draft(account, "contractStartAt", "2020-08-01T15:00:00Z")
	c.post("/deposits", begun, "idempotency-key", key).ok(http.StatusCreated)
}

// A repetition after the stay gets its answer as before. The link of its deposit goes to nobody, and nobody pays.
func TestCreate_RepeatedAfterTheStay_IsReplayed_AndItsLinkIsNotSent(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	key, end := newKey(), c.clock.Now().Add(1500*time.Millisecond)
	body := draft(account, "contractStartAt", "2020-08-01T15:00:00Z", "contractEndAt", end.Format(time.RFC3339Nano))
	first := c.post("/deposits", body, "idempotency-key", key)
	d := text(t, first.ok(http.StatusCreated), "id")
	require.Eventually(t, func() bool { return !c.clock.Now().Before(end) }, 10*time.Second, 10*time.Millisecond)

	again := c.post("/deposits", body, "idempotency-key", key)
	require.Equal(t, []string{string(first.body), "true"},
		[]string{string(again.body), again.header.Get("Idempotent-Replayed")})
	c.post("/deposits", body, "idempotency-key", newKey()).refused(400, "invalid_date_range")
	c.leavesNothing(t, func() {
		for path, sent := range map[string]object{
			"/send-link":       {"email": "a@b.example"},
			"/send-link/batch": {"recipients": []object{{"email": "a@b.example"}, {"email": "c@d.example"}}},
		} {
			require.Contains(t, c.post("/deposits/"+d+path, sent).refused(409, "deposit_not_sendable"),
				"It ended at "+deposit.FormatTimestamp(end))
		}
		for _, outcome := range []string{"start", "activate", "fail_payment"} {
			c.post("/test/deposits/"+d+"/simulate", object{"outcome": outcome}).refused(409, "deposit_not_securable")
		}
	})
	parsed, _ := id.Deposit.Parse(d)
	require.Zero(t, c.Count("payments", "deposit_id = $1", parsed))
	require.Empty(t, c.linkMails())
	require.Equal(t, "pending", c.get("/deposits/" + d).ok(200)["status"])
}
