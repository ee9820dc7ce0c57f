package partnerapi_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/middleware/jsonbody"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/lab/servicetest"
)

// The natural mistake of whoever reads amountCents in every answer must not capture the whole deposit.
func TestCapture_WithAMisspeltAmount_CapturesNothing(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	deposit := c.created(account)
	c.simulated(deposit, "activate")
	capture := "/deposits/" + deposit + "/capture"
	key := newKey()
	c.leavesNothing(t, func() {
		for _, body := range []any{object{"amountCents": 12050}, object{"amout": 10}, object{"Amount": 120.5},
			object{"data": object{"amount": 120.5}}, object{"amount": 120.5, "amountCents": nil}} {
			c.post(capture, body, "idempotency-key", key).refused(400, "unknown_field")
		}
		require.Equal(t, "`amountCents` is unknown; did you mean `amount`?",
			c.post(capture, object{"amountCents": 1000}).refused(400, "unknown_field"))
		c.post(capture+"?amount=120.50", nil).refused(400, "unknown_field")
		c.post(capture, object{"amount": 120.5, "currency": "GBP"}).refused(400, "invalid_field")
		c.post("/deposits", draft(account, "currency", "GBP")).refused(400, "invalid_field")
		for _, name := range []string{"status", "ACCOUNTID", "Amount", "somethingNew"} {
			c.post("/deposits", draft(account, name, object{"a": 1})).refused(400, "unknown_field")
		}
		c.get("/deposits?rental_contract=BK-1").refused(400, "unknown_field")
		c.get("/deposits?rentalContract=").refused(400, "invalid_field")
		require.Equal(t, 400, c.do(http.MethodHead, "/deposits?rental_contract=BK-1", nil).status)
		for _, method := range []string{http.MethodGet, http.MethodDelete} { // in whatever form
			c.do(method, "/accounts/"+account, "confirm=yes", "content-type", "").refused(415, "unsupported_media_type")
			c.do(method, "/accounts/"+account, `{"confirm":true}`).refused(400, "unknown_field")
			c.do(method, "/accounts/"+account, `null`).refused(400, "invalid_json")
		}
	})
	captured := c.post(capture, object{"amount": 120.5, "currency": "EUR"}, "idempotency-key", key).ok(200)
	require.Equal(t, 12050.0, captured["capturedAmountCents"])
	c.post("/deposits", draft(account, "currency", "EUR")).ok(201)
}

// A response that was stored before unknown fields were refused is replayed, from Postgres and from the cache.
func TestIdempotency_AStoredResponse_IsReplayedThoughItsRequestHasAnUnknownField(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	for _, path := range []string{"/deposits", "/deposits?amount=1"} {
		key, sent := newKey(), draft(account)
		first := c.post("/deposits", sent, "idempotency-key", key)
		first.ok(201)
		sent["colour"] = "blue"
		c.post(path, sent, "idempotency-key", key).refused(422, "idempotency_key_reused")
		raw, err := json.Marshal(sent)
		require.NoError(t, err)
		body, err := jsonbody.ParseObject(raw)
		require.NoError(t, err)
		stored := idempotent.Fingerprint(body)
		_, err = c.Pool.Exec(t.Context(), "UPDATE idempotency_keys SET fingerprint = $1 WHERE key = $2", stored[:], key)
		require.NoError(t, err)
		require.Eventually(t, func() bool { // until the cache, which is filled behind the answer, has forgotten
			require.NoError(t, c.redis.FlushDB(t.Context()).Err())
			return c.post(path, sent, "idempotency-key", key).status == http.StatusCreated
		}, servicetest.MaxWait, 10*time.Millisecond)
		for range 2 {
			first.again(c.post(path, sent, "idempotency-key", key))
		}
		c.post(path, sent, "idempotency-key", newKey()).refused(400, "unknown_field")
	}
	require.Equal(t, 2, c.Count("deposits", ""))
}
