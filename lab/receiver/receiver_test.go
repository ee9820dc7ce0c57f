package receiver_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/receiver"
)

const key = "svc_whsec_test"

func TestVerify(t *testing.T) {
	now := time.Unix(1_790_000_000, 0)
	body := []byte(`{"event":"deposit.activated"}`)
	ts, signature := webhook.Sign(secret.Text(key), body, now)
	cases := map[string]struct {
		secret, signature, ts string
		body                  []byte
		now                   time.Time
		want                  receiver.RejectReason
	}{
		"good":              {key, signature, ts, body, now, ""},
		"299 s later":       {key, signature, ts, body, now.Add(299 * time.Second), ""},
		"300 s later":       {key, signature, ts, body, now.Add(300 * time.Second), ""},
		"301 s later":       {key, signature, ts, body, now.Add(301 * time.Second), receiver.RejectExpiredTimestamp},
		"301 s early":       {key, signature, ts, body, now.Add(-301 * time.Second), receiver.RejectExpiredTimestamp},
		"another secret":    {"svc_whsec_old", signature, ts, body, now, receiver.RejectSignatureMismatch},
		"another body":      {key, signature, ts, []byte(`{"event": "deposit.activated"}`), now, receiver.RejectSignatureMismatch},
		"another timestamp": {key, signature, "1790000001", body, now, receiver.RejectSignatureMismatch},
		"no signature":      {key, "", ts, body, now, receiver.RejectMissingSignature},
		"no timestamp":      {key, signature, "", body, now, receiver.RejectMissingSignature},
		"signature without name": {key, strings.TrimPrefix(signature, "sha256="), ts, body, now,
			receiver.RejectMissingSignature},
		"signature not hex": {key, "sha256=zz", ts, body, now, receiver.RejectSignatureMismatch},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, receiver.VerifySignature(c.secret, c.signature, c.ts, c.body, c.now))
		})
	}
}

// post sends body with a signature of the secret with, at the current time.
func post(h http.Handler, with, body string) int {
	ts, signature := webhook.Sign(secret.Text(with), []byte(body), time.Now())
	request := httptest.NewRequest(http.MethodPost, receiver.WebhookPath, strings.NewReader(body))
	request.Header.Set("X-Svc-Timestamp", ts)
	request.Header.Set("X-Svc-Signature", signature)
	request.Header.Set("X-Svc-Event", "deposit.captured")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, request)
	return w.Code
}

func TestReceiver_PrintsVerifiedWebhooksOnce(t *testing.T) {
	var out strings.Builder
	r := receiver.New(&out)
	h := r.Handler()
	const body = `{"event":"deposit.captured","createdAt":"2026-01-01T00:00:00.000Z","data":{"id":"dep_1","reference":"D-1","status":"captured","previousStatus":"active","amountCents":70050}}`

	require.Equal(t, http.StatusBadRequest, post(h, key, body), "without a secret nothing can be believed")
	r.SetSecret(key)
	require.Equal(t, http.StatusOK, post(h, key, body))
	require.Equal(t, http.StatusOK, post(h, key, body), "a duplicate is answered like the first")
	require.Equal(t, http.StatusBadRequest, post(h, "svc_whsec_other", body))

	require.Contains(t, out.String(),
		"deposit.captured  D-1 dep_1  active → captured  a part or all of 700.50 EUR\n    {\n")
	require.Equal(t, 1, strings.Count(out.String(), "✔"))
	require.Equal(t, 1, strings.Count(out.String(), "seen before"))
	require.Equal(t, 2, strings.Count(out.String(), "refused with 400: signature_mismatch"))
}

func TestReceiver_OfACapture_PrintsTheCapturedAmount(t *testing.T) {
	const body = `{"event":"deposit.captured","data":{"id":"dep_1","reference":"D-1","status":"captured","previousStatus":"active","amountCents":70000}}`
	for want, lookup := range map[string]receiver.CapturedAmountLookup{
		"active → captured  120.50 EUR of 700.00 EUR\n": func(_ context.Context, depositID string) (int64, error) {
			require.Equal(t, "dep_1", depositID)
			return 12_050, nil
		},
		"active → captured  a part or all of 700.00 EUR\n": func(context.Context, string) (int64, error) {
			return 0, errors.New("the API is away")
		},
	} {
		var out strings.Builder
		r := receiver.New(&out)
		r.SetSecret(key)
		r.SetCapturedAmountLookup(lookup)
		require.Equal(t, http.StatusOK, post(r.Handler(), key, body))
		require.Contains(t, out.String(), want)
	}
}

func TestReceiver_LearnsARotatedSecret(t *testing.T) {
	h := receiver.New(new(strings.Builder)).Handler()
	put := func(body string) int {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodPut, receiver.SecretPath, strings.NewReader(body)))
		return w.Code
	}
	require.Equal(t, http.StatusBadRequest, put("nonsense"))
	require.Equal(t, http.StatusNoContent, put(key))
	require.Equal(t, http.StatusOK,
		post(h, key, `{"event":"rental_operator.linked","data":{"accountId":"acct_1","externalId":"x"}}`))
}

func TestReceiver_OfALink_PrintsTheOperator(t *testing.T) {
	var out strings.Builder
	r := receiver.New(&out)
	r.SetSecret(key)
	require.Equal(t, http.StatusOK,
		post(r.Handler(), key, `{"event":"rental_operator.linked","data":{"accountId":"acct_1","externalId":"villa-7"}}`))
	require.Contains(t, out.String(), `rental_operator.linked  acct_1 is your operator "villa-7"`)
}
