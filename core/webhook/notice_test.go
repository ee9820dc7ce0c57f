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
	mail, drop := webhook.Fate{Mail: true}, webhook.Fate{}
	for name, test := range map[string]struct {
		kind   webhook.NoticeKind
		putOff bool
		state  webhook.EndpointState
		told   webhook.Mailed
		want   webhook.Fate
	}{
		"held":                   {webhook.NoticeHeld, false, webhook.EndpointHeld, nil, mail},
		"held, and back already": {webhook.NoticeHeld, false, webhook.EndpointHealthy, nil, mail},
		"held again today": {webhook.NoticeHeld, false, webhook.EndpointHeld,
			webhook.Mailed{webhook.NoticeHeld: ago(1)}, webhook.Fate{Until: ago(-23)}},
		"held again the next day": {webhook.NoticeHeld, false, webhook.EndpointHeld,
			webhook.Mailed{webhook.NoticeHeld: ago(24)}, mail},
		"put off, and still held": {webhook.NoticeHeld, true, webhook.EndpointHeld,
			webhook.Mailed{webhook.NoticeHeld: ago(24)}, mail},
		"put off, and held no more": {webhook.NoticeHeld, true, webhook.EndpointFailing,
			webhook.Mailed{webhook.NoticeHeld: ago(24)}, drop},
		"another kind today": {webhook.NoticeGivenUp, false, webhook.EndpointHeld,
			webhook.Mailed{webhook.NoticeHeld: ago(1)}, mail},
		"given up, put off": {webhook.NoticeGivenUp, true, webhook.EndpointHealthy,
			webhook.Mailed{webhook.NoticeGivenUp: ago(24)}, mail},
		"disabled":                {webhook.NoticeDisabled, false, webhook.EndpointDisabled, nil, mail},
		"disabled, enabled since": {webhook.NoticeDisabled, false, webhook.EndpointHealthy, nil, mail},
		"disabled, put off, enabled": {webhook.NoticeDisabled, true, webhook.EndpointHealthy,
			webhook.Mailed{webhook.NoticeDisabled: ago(24)}, drop},
		"recovered of nothing that was told": {webhook.NoticeRecovered, false, webhook.EndpointHealthy, nil, drop},
		"recovered": {webhook.NoticeRecovered, false, webhook.EndpointHealthy,
			webhook.Mailed{webhook.NoticeGivenUp: ago(1)}, mail},
		"recovered, as was told": {webhook.NoticeRecovered, false, webhook.EndpointHealthy,
			webhook.Mailed{webhook.NoticeHeld: ago(3), webhook.NoticeRecovered: ago(2)}, drop},
		"recovered again today": {webhook.NoticeRecovered, false, webhook.EndpointHealthy,
			webhook.Mailed{webhook.NoticeHeld: ago(1), webhook.NoticeRecovered: ago(2)}, webhook.Fate{Until: ago(-22)}},
		"recovery put off, failing again": {webhook.NoticeRecovered, true, webhook.EndpointFailing,
			webhook.Mailed{webhook.NoticeHeld: ago(1), webhook.NoticeRecovered: ago(24)}, drop},
		"recovery put off, and still true": {webhook.NoticeRecovered, true, webhook.EndpointHealthy,
			webhook.Mailed{webhook.NoticeHeld: ago(1), webhook.NoticeRecovered: ago(24)}, mail},
	} {
		n := webhook.Notice{Kind: test.kind, PutOff: test.putOff}
		require.Equal(t, test.want, n.Decide(webhook.Report{State: test.state}, test.told, now), name)
	}
}

func TestNotice_OfACircuit_WaitsForABreakOfOurOwn_AndIsDroppedAfterASuccess(t *testing.T) {
	require.Equal(t, 30*time.Second, webhook.NoticeHeld.Settles())
	require.Zero(t, webhook.NoticeGivenUp.Settles())
	for kind, waits := range map[webhook.NoticeKind]bool{
		webhook.NoticeHeld: true, webhook.NoticeGivenUp: true, webhook.NoticeDisabled: false, webhook.NoticeRecovered: false,
	} {
		n := webhook.Notice{Kind: kind}
		require.Equal(t, waits, n.Waits(noon, noon.Add(2*time.Minute-1)), kind)
		require.False(t, n.Waits(noon, noon.Add(2*time.Minute)), kind)
		require.False(t, n.Waits(time.Time{}, noon), kind)
	}
	n := webhook.Notice{Kind: webhook.NoticeHeld, At: noon, PutOff: true}
	halfOpen := webhook.Report{State: webhook.EndpointHeld, LastSuccessAt: noon.Add(time.Minute)}
	require.Equal(t, webhook.Fate{}, n.Decide(halfOpen, nil, noon.Add(2*time.Minute)))
	halfOpen.LastSuccessAt = noon.Add(-time.Minute)
	require.Equal(t, webhook.Fate{Mail: true}, n.Decide(halfOpen, nil, noon.Add(2*time.Minute)))
}

func TestHealth_RemembersTrouble_UntilTheEndpointIsHealthy(t *testing.T) {
	const limit = 2
	now := time.Unix(1_790_000_000, 0)
	fail := webhook.Attempt{Result: webhook.ResultTimeout}
	ok := webhook.Attempt{Result: webhook.ResultSuccess}
	var h webhook.Health
	for range 30 {
		h = h.After(fail, limit, now)
	}
	require.False(t, h.Trouble)
	now = now.Add(5 * time.Second)
	h = h.After(fail, limit, now)
	require.True(t, h.Trouble, "held")
	h = h.After(ok, limit, h.OpenUntil)
	require.True(t, h.Trouble, "half-open")
	h = h.After(ok, limit, now)
	require.False(t, h.Trouble)
	require.False(t, webhook.Health{Trouble: true}.Clean(), "the next success matters")
	require.True(t, webhook.Health{Trouble: true}.After(ok, limit, now).Clean())
}
