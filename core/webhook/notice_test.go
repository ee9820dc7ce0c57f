package webhook_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/webhook"
)

func TestNotice_Decide(t *testing.T) {
	now := time.Unix(1_790_000_000, 0)
	ago := func(hours int) time.Time { return now.Add(-time.Duration(hours) * time.Hour) }
	mail, drop := webhook.NoticeDecision{Mail: true}, webhook.NoticeDecision{}
	for name, test := range map[string]struct {
		kind   webhook.NoticeKind
		putOff bool
		state  webhook.EndpointState
		told   webhook.LastMailTimes
		want   webhook.NoticeDecision
	}{
		"held":                   {webhook.NoticeEndpointHeld, false, webhook.EndpointHeld, nil, mail},
		"held, and back already": {webhook.NoticeEndpointHeld, false, webhook.EndpointHealthy, nil, mail},
		"held again today": {webhook.NoticeEndpointHeld, false, webhook.EndpointHeld,
			webhook.LastMailTimes{webhook.NoticeEndpointHeld: ago(1)}, webhook.NoticeDecision{Until: ago(-23)}},
		"held again the next day": {webhook.NoticeEndpointHeld, false, webhook.EndpointHeld,
			webhook.LastMailTimes{webhook.NoticeEndpointHeld: ago(24)}, mail},
		"put off, and still held": {webhook.NoticeEndpointHeld, true, webhook.EndpointHeld,
			webhook.LastMailTimes{webhook.NoticeEndpointHeld: ago(24)}, mail},
		"put off, and held no more": {webhook.NoticeEndpointHeld, true, webhook.EndpointFailing,
			webhook.LastMailTimes{webhook.NoticeEndpointHeld: ago(24)}, drop},
		"another kind today": {webhook.NoticeDeliveryGivenUp, false, webhook.EndpointHeld,
			webhook.LastMailTimes{webhook.NoticeEndpointHeld: ago(1)}, mail},
		"given up, put off": {webhook.NoticeDeliveryGivenUp, true, webhook.EndpointHealthy,
			webhook.LastMailTimes{webhook.NoticeDeliveryGivenUp: ago(24)}, mail},
		"disabled":                {webhook.NoticeSubscriptionDisabled, false, webhook.EndpointDisabled, nil, mail},
		"disabled, enabled since": {webhook.NoticeSubscriptionDisabled, false, webhook.EndpointHealthy, nil, mail},
		"disabled, put off, enabled": {webhook.NoticeSubscriptionDisabled, true, webhook.EndpointHealthy,
			webhook.LastMailTimes{webhook.NoticeSubscriptionDisabled: ago(24)}, drop},
		"recovered of nothing that was told": {webhook.NoticeEndpointRecovered, false, webhook.EndpointHealthy, nil, drop},
		"recovered": {webhook.NoticeEndpointRecovered, false, webhook.EndpointHealthy,
			webhook.LastMailTimes{webhook.NoticeDeliveryGivenUp: ago(1)}, mail},
		"recovered, as was told": {webhook.NoticeEndpointRecovered, false, webhook.EndpointHealthy,
			webhook.LastMailTimes{webhook.NoticeEndpointHeld: ago(3), webhook.NoticeEndpointRecovered: ago(2)}, drop},
		"recovered again today": {webhook.NoticeEndpointRecovered, false, webhook.EndpointHealthy,
			webhook.LastMailTimes{webhook.NoticeEndpointHeld: ago(1), webhook.NoticeEndpointRecovered: ago(2)},
			webhook.NoticeDecision{Until: ago(-22)}},
		"recovery put off, failing again": {webhook.NoticeEndpointRecovered, true, webhook.EndpointFailing,
			webhook.LastMailTimes{webhook.NoticeEndpointHeld: ago(1), webhook.NoticeEndpointRecovered: ago(24)}, drop},
		"recovery put off, and still true": {webhook.NoticeEndpointRecovered, true, webhook.EndpointHealthy,
			webhook.LastMailTimes{webhook.NoticeEndpointHeld: ago(1), webhook.NoticeEndpointRecovered: ago(24)}, mail},
	} {
		n := webhook.Notice{Kind: test.kind, PutOff: test.putOff}
		require.Equal(t, test.want, n.DecideMailing(webhook.EndpointReport{State: test.state}, test.told, now), name)
	}
}

func TestNotice_OfACircuit_WaitsForABreakOfOurOwn_AndIsDroppedAfterASuccess(t *testing.T) {
	require.Equal(t, 30*time.Second, webhook.NoticeEndpointHeld.MailDelay())
	require.Zero(t, webhook.NoticeDeliveryGivenUp.MailDelay())
	for kind, waits := range map[webhook.NoticeKind]bool{
		webhook.NoticeEndpointHeld: true, webhook.NoticeDeliveryGivenUp: true, webhook.NoticeSubscriptionDisabled: false,
		webhook.NoticeEndpointRecovered: false,
	} {
		n := webhook.Notice{Kind: kind}
		require.Equal(t, waits, n.MustWait(noon, noon.Add(2*time.Minute-1)), kind)
		require.False(t, n.MustWait(noon, noon.Add(2*time.Minute)), kind)
		require.False(t, n.MustWait(time.Time{}, noon), kind)
	}
	n := webhook.Notice{Kind: webhook.NoticeEndpointHeld, At: noon, PutOff: true}
	halfOpen := webhook.EndpointReport{State: webhook.EndpointHeld, LastSuccessAt: noon.Add(time.Minute)}
	require.Equal(t, webhook.NoticeDecision{}, n.DecideMailing(halfOpen, nil, noon.Add(2*time.Minute)))
	halfOpen.LastSuccessAt = noon.Add(-time.Minute)
	require.Equal(t, webhook.NoticeDecision{Mail: true}, n.DecideMailing(halfOpen, nil, noon.Add(2*time.Minute)))
}

func TestHealth_RemembersTrouble_UntilTheEndpointIsHealthy(t *testing.T) {
	const limit = 2
	now := time.Unix(1_790_000_000, 0)
	fail := webhook.Attempt{Result: webhook.ResultTimeout}
	ok := webhook.Attempt{Result: webhook.ResultSuccess}
	var h webhook.Health
	for range 30 {
		h = h.AfterAttempt(fail, limit, now)
	}
	require.False(t, h.Trouble)
	now = now.Add(5 * time.Second)
	h = h.AfterAttempt(fail, limit, now)
	require.True(t, h.Trouble, "held")
	h = h.AfterAttempt(ok, limit, h.OpenUntil)
	require.True(t, h.Trouble, "half-open")
	h = h.AfterAttempt(ok, limit, now)
	require.False(t, h.Trouble)
	require.False(t, webhook.Health{Trouble: true}.Flawless(), "the next success matters")
	require.True(t, webhook.Health{Trouble: true}.AfterAttempt(ok, limit, now).Flawless())
}
