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
	var k receiver.SigningSecrets
	require.Equal(t, receiver.RejectMissingSignature, k.VerifyWebhook(signed("first", now)))
	k.BeginRotation()
	require.Empty(t, k.VerifyWebhook(signed("anything", now)), "the answer with the secret is missing")
	k.RecordNewSecret("first", now)
	require.Empty(t, k.VerifyWebhook(signed("first", now)))
	require.Equal(t, receiver.RejectSignatureMismatch, k.VerifyWebhook(signed("second", now)))
	k.BeginRotation()
	k.RecordNewSecret("second", now)
	require.Empty(t, k.VerifyWebhook(signed("second", now)))
	require.Empty(t, k.VerifyWebhook(signed("first", now.Add(receiver.LateArrivalWindow))),
		"sent before the rotation was answered")
	require.Equal(t, receiver.RejectSignatureMismatch, k.VerifyWebhook(signed("first",
		now.Add(receiver.LateArrivalWindow+time.Second))))
}
