//go:build !unit

package dispatch_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/webhooks/dispatch"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/webhook"
)

const secretMail = "Your webhook needs a new secret"

// spoil makes the secret of a subscription unreadable.
func (f *fixture) spoil(url string) (sub webhook.Subscription) {
	f.t.Helper()
	sub.ID = f.subscribe(url)
	f.exec(`UPDATE webhook_subscriptions SET secret = '\x00' WHERE id = $1`, sub.ID)
	return sub
}

func TestDispatch_ASecretThatIsLost_EndsItsDeliveriesByTheSchedule_UntilItIsRotated(t *testing.T) {
	f := newFixture(t)
	good, bad := newReceiver(t, nil), newReceiver(t, nil)
	f.subscribe(good.URL)
	sub := f.spoil(bad.URL)
	f.run(func(d *dispatch.Deps, c *dispatch.Config) {
		d.KeysetProven = func() bool { return true }
		c.Schedule = webhook.RetrySchedule{0, 10 * time.Millisecond, 10 * time.Millisecond}
	})
	f.emit(webhook.EventDepositActivated, 5)
	f.eventually("all deliveries end", func() bool {
		s := f.states()
		return s[webhook.DeliveryStateSucceeded] == 5 && s[webhook.DeliveryStateFailed] == 5
	})
	require.Empty(t, bad.all())
	signing, err := f.Postgres.Subscriptions.SigningSecrets(t.Context(), f.partner)
	require.NoError(t, err)
	require.Len(t, signing, 1, "explanations go on with the secrets that can be read")
	require.Equal(t, 15, f.Count("delivery_attempts", "result = 'secret' AND detail LIKE '%Rotate it.'"))
	report := f.report(sub.ID)
	require.Equal(t, []any{webhook.EndpointFailing, webhook.ResultSecretUnreadable}, []any{report.State, report.LastError})
	require.Equal(t, map[string]int{secretMail: 1}, f.mailed())
	body := f.ListMails("")[0].Body
	for _, words := range []string{"5 deliveries", "/rotate-secret", "/replay", "Last error: secret"} {
		require.Contains(t, body, words)
	}

	rotated, err := f.Webhooks.RotateSecret(t.Context(), partner.Caller{Partner: partner.Partner{ID: f.partner}}, sub.ID)
	require.NoError(t, err)
	bad.rotate(rotated.Secret.Reveal())
	f.emit(webhook.EventDepositActivated, 1)
	f.eventually("the next event arrives", func() bool { return f.states()[webhook.DeliveryStateSucceeded] == 7 })
	require.True(t, bad.all()[0].valid, "it is signed with the new secret")
	require.Equal(t, webhook.EndpointHealthy, f.becomes(sub.ID, webhook.EndpointHealthy).State)
	require.Equal(t, map[string]int{secretMail: 1, recoveredMail: 1}, f.mailed())
}

// A process that cannot be sure of its keyset leaves the delivery to others.
func TestDispatch_ASecretThatDoesNotDecrypt_WithoutProofOfTheKeyset_SpendsNoAttempt(t *testing.T) {
	f := newFixture(t)
	good, bad := newReceiver(t, nil), newReceiver(t, nil)
	f.spoil(bad.URL)
	f.subscribe(good.URL)
	stop := f.run()
	f.emit(webhook.EventDepositActivated, 5)
	f.eventually("the good ones", func() bool { return f.states()[webhook.DeliveryStateSucceeded] == 5 })
	stop()
	require.Equal(t, 5, f.Count("deliveries", "attempts = 0 AND state IN (0, 1)"))
	require.Zero(t, f.Count("delivery_attempts", ""))
	require.Empty(t, bad.all())
}
