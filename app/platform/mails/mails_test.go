package mails_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	ports "partnerdeposits/ports/platform"
)

var now = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

func TestAPIKeys_NameTheKeyAndTheAuthor(t *testing.T) {
	key := partner.APIKey{ID: id.ID{2}, Name: "production", Prefix: "svc_pk_live_", Last4: "k3J9"}
	used := partner.APIKey{ID: id.ID{3}, Prefix: "svc_pk_live_", Last4: "aB-_"}
	named := "\n\n  production\n  " + id.APIKey.Of(key.ID) + " (svc_pk_live_…k3J9)\n\n"
	require.Empty(t, cmp.Diff(ports.Mail{
		ID: id.ID{1}, To: "dev@acme.example", CreatedAt: now,
		Subject: "A new API key",
		Body: "The API key" + named + "was created on 2026-11-21 10:00 UTC, by a request with the API key " +
			id.APIKey.Of(used.ID) +
			" (svc_pk_live_…aB-_).\n\nIf you did not expect this key, delete it and tell our support.\n",
	}, mails.APIKeyCreated{Contact: "dev@acme.example", Key: key, By: mails.APIKeyOf(used)}.Mail(id.ID{1}, now)))
	require.Empty(t, cmp.Diff(ports.Mail{
		ID: id.ID{1}, To: "dev@acme.example", CreatedAt: now,
		Subject: "An API key was deleted",
		Body: "The API key" + named +
			"was deleted on 2026-11-21 10:00 UTC, by our support. Within five seconds it works nowhere.\n\n" +
			"If you did not expect this, tell our support.\n",
	}, mails.APIKeyRevoked{Contact: "dev@acme.example", Key: key, By: mails.Support}.Mail(id.ID{1}, now)))
}

func TestRetryWaits_OutlastAWeekend(t *testing.T) {
	var all time.Duration
	for i, wait := range mails.RetryWaits {
		require.GreaterOrEqual(t, wait, mails.RetryWaits[max(i-1, 0)])
		all += wait
	}
	require.Equal(t, time.Minute, mails.RetryWaits[0])
	require.Greater(t, all, 3*24*time.Hour)
}
