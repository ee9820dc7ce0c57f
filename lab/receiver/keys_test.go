package receiver_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/receiver"
)

func TestKeys_AcceptASecretWhileItMaySign(t *testing.T) {
	t.Parallel()
	now := time.Now()
	signed := func(with string, at time.Time) receiver.Webhook {
		ts, signature := webhook.Sign(secret.Text(with), []byte("{}"), at)
		return receiver.Webhook{At: at, Body: []byte("{}"),
			Header: http.Header{"X-Svc-Signature": {signature}, "X-Svc-Timestamp": {ts}}}
	}
	var k receiver.Keys
	require.Equal(t, receiver.Missing, k.Check(signed("first", now)))
	k.Rotate()
	require.Empty(t, k.Check(signed("anything", now)), "the answer with the secret is missing")
	k.Learn("first", now)
	require.Empty(t, k.Check(signed("first", now)))
	require.Equal(t, receiver.Mismatch, k.Check(signed("second", now)))
	k.Rotate()
	k.Learn("second", now)
	require.Empty(t, k.Check(signed("second", now)))
	require.Empty(t, k.Check(signed("first", now.Add(receiver.Settling))), "sent before the rotation was answered")
	require.Equal(t, receiver.Mismatch, k.Check(signed("first", now.Add(receiver.Settling+time.Second))))
}
