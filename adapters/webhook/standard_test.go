package webhook

import (
	"io"
	"net/http"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
)

// The project's own library verifies what a subscription with its headers gets, and ours are as without them.
func TestPost_WithStandardWebhooks_IsVerifiedByTheirLibrary(t *testing.T) {
	t.Parallel()
	type seen struct {
		header http.Header
		body   []byte
	}
	requests := make(chan seen, 1)
	ca := newAuthority(t)
	url := ca.ServeHTTP(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		requests <- seen{r.Header, body}
	})
	s := newSender(t, trusting(ca))
	library, err := standardwebhooks.NewWebhook(webhook.StandardSecret(postTo("").Secret))
	require.NoError(t, err)
	wrong, err := standardwebhooks.NewWebhook(webhook.StandardSecret(secret.Text("svc_whsec_another")))
	require.NoError(t, err)

	post := func(standard bool, at time.Time) seen {
		t.Helper()
		p := postTo(url)
		p.EventID, p.Body, p.Standard = id.ID{1}, []byte(`{"event":"deposit.activated","createdAt":"ë"}`), standard
		require.Equal(t, webhook.ResultSuccess, s.Post(t.Context(), p, at).Result)
		return <-requests
	}
	now := time.Now()
	plain, first, retry := post(false, now), post(true, now), post(true, now.Add(time.Minute))
	for _, got := range []seen{first, retry} {
		require.NoError(t, library.Verify(got.body, got.header))
		require.Error(t, wrong.Verify(got.body, got.header))
		require.Error(t, library.Verify(append(got.body, '\n'), got.header))
		require.Equal(t, []string{id.Event.Of(id.ID{1})}, got.header["Webhook-Id"])
		require.Equal(t, got.header["X-Svc-Timestamp"], got.header["Webhook-Timestamp"])
	}
	require.NotEqual(t, first.header["Webhook-Signature"], retry.header["Webhook-Signature"])
	for _, name := range []string{"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"} {
		require.NotContains(t, plain.header, name)
		first.header.Del(name)
	}
	require.Equal(t, plain.header, first.header)
}
