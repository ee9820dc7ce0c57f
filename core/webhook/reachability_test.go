package webhook_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
)

// endpoints of tests: partner n at a host of its own.
func succeeding(n byte, ago time.Duration) webhook.EndpointReachability {
	return webhook.EndpointReachability{PartnerID: id.ID{n}, Host: "h" + strconv.Itoa(int(n)),
		LastSuccessAt: noon.Add(-ago)}
}

func lost(n byte, since, ago time.Duration, result webhook.AttemptResult) webhook.EndpointReachability {
	e := succeeding(n, since+time.Second)
	e.FailingSince, e.LastFailureAt, e.LastFailure.Result = noon.Add(-since), noon.Add(-ago), result
	return e
}

func TestOutboundBroken(t *testing.T) {
	t.Parallel()
	const (
		dns, connect, tls = webhook.ResultDNSFailed, webhook.ResultConnectFailed, webhook.ResultTLSFailed
		refused, timeout  = webhook.ResultNon2xx, webhook.ResultTimeout
	)
	s, m := time.Second, time.Minute
	samePartner, sameHost := lost(2, m, s, connect), lost(2, m, s, connect)
	samePartner.PartnerID, sameHost.Host = id.ID{1}, "h1"
	unconnected := lost(2, m, s, timeout)
	unconnected.LastFailure.Unconnected = true
	for name, c := range map[string]struct {
		endpoints []webhook.EndpointReachability
		since     time.Duration // ago; 0: not broken
	}{
		"nothing is known":           {nil, 0},
		"all succeed":                {[]webhook.EndpointReachability{succeeding(1, s), succeeding(2, s)}, 0},
		"one partner":                {[]webhook.EndpointReachability{lost(1, m, s, connect), samePartner}, 0},
		"one host of two":            {[]webhook.EndpointReachability{lost(1, m, s, connect), sameHost}, 0},
		"two partners":               {[]webhook.EndpointReachability{lost(1, m, s, connect), lost(2, 50*s, s, dns)}, m},
		"by tls":                     {[]webhook.EndpointReachability{lost(1, m, s, tls), lost(2, 50*s, s, tls)}, m},
		"refusals come from outside": {[]webhook.EndpointReachability{lost(1, m, s, refused), lost(2, m, s, refused)}, 0},
		"time-outs of receivers":     {[]webhook.EndpointReachability{lost(1, m, s, timeout), lost(2, m, s, timeout)}, 0},
		"a time-out before there was a connection": {[]webhook.EndpointReachability{lost(1, m, s, connect), unconnected}, m},
		"others could not show a success yet": {[]webhook.EndpointReachability{lost(1, 14*s, s, connect), lost(2, 14*s, s,
			connect)},
			0},
		"after 15 s":         {[]webhook.EndpointReachability{lost(1, 15*s, s, connect), lost(2, 15*s, s, connect)}, 15 * s},
		"within ten minutes": {[]webhook.EndpointReachability{lost(1, 11*m, s, connect), lost(2, m, s, connect)}, 11 * m},
		"a second later":     {[]webhook.EndpointReachability{lost(1, 11*m+s, s, connect), lost(2, m, s, connect)}, 0},
		"last tried a minute before the newest": {
			[]webhook.EndpointReachability{lost(1, 5*m, m, connect), lost(2, 5*m, m, connect), succeeding(3, 0)}, 5 * m},
		"half, one redirects": {[]webhook.EndpointReachability{lost(1, m, s, connect), lost(2, m, s, connect),
			lost(3, time.Hour, s, webhook.ResultRedirect), succeeding(4, s)}, 0},
		"half, answered as the break began": {[]webhook.EndpointReachability{lost(1, m, s, connect), lost(2, m, s, connect),
			lost(3, time.Hour, m, refused), succeeding(4, m)}, 0},
		"most": {
			[]webhook.EndpointReachability{lost(1, m, s, connect), lost(2, m, s, connect), succeeding(3, s)}, m},
		"half": {
			[]webhook.EndpointReachability{lost(1, m, s, connect), lost(2, m, s, connect), succeeding(3, s), succeeding(4, s)},
			0},
		"half, one answers with an error": {[]webhook.EndpointReachability{lost(1, m, s, connect), lost(2, m, s, connect),
			lost(3, time.Hour, s, refused), succeeding(4, s)}, 0},
		"others were last tried before the break": {
			[]webhook.EndpointReachability{lost(1, m, s, connect), lost(2, m, s, connect), succeeding(3, 2*m), succeeding(4,
				3*m)}, m},
		"dead for days, each since another day": {
			[]webhook.EndpointReachability{lost(1, 48*time.Hour, s, connect), lost(2, 24*time.Hour, s, connect), lost(3, m, s,
				connect)}, 0},
		"some were dead before the break": {[]webhook.EndpointReachability{lost(1, 48*time.Hour, s, connect),
			lost(2, 2*m, s, connect), lost(3, m, s, connect), succeeding(4, time.Hour)}, 2 * m},
		"still after days": {
			[]webhook.EndpointReachability{lost(1, 48*time.Hour, s, connect), lost(2, 48*time.Hour, s, connect)},
			48 * time.Hour},
		"most recover, others are not tried again": {[]webhook.EndpointReachability{lost(1, 10*m, 2*m, connect),
			lost(2, 10*m, 2*m, connect), lost(3, 10*m, 2*m, connect), succeeding(4, s)}, 0},
		"nobody is tried any more": {[]webhook.EndpointReachability{lost(1, 10*m, 5*m, connect), lost(2, 10*m, 5*m,
			connect)}, 10 * m},
	} {
		var want time.Time
		if c.since != 0 {
			want = noon.Add(-c.since)
		}
		require.Equal(t, want, webhook.OutboundBrokenSince(c.endpoints, noon), name)
	}
}

// While our own way out is broken, a circuit probes at least every 16 s, and its next wait begins there, too.
func TestHealth_Excused_ProbesOften(t *testing.T) {
	t.Parallel()
	closed := webhook.Health{Failures: 3, FailingSince: noon}
	require.Equal(t, closed, closed.AfterExcusedAttempt(noon))
	h := webhook.Health{Failures: 20, FailingSince: noon.Add(-time.Minute), OpenUntil: noon}
	failed := quickly(webhook.ResultConnectFailed)
	now := noon
	for range 12 {
		h = h.AfterAttempt(failed, slots, now).AfterExcusedAttempt(now)
		require.LessOrEqual(t, h.OpenUntil.Sub(now), 16*time.Second)
		now = h.OpenUntil
	}
	require.Equal(t, 4, h.FailedProbes)
	h = h.AfterAttempt(failed, slots, now)
	require.Equal(t, 16*time.Second, h.OpenUntil.Sub(now), "after the break, waits grow from there")
}

func TestPutOff_DoublesUpToAMinute(t *testing.T) {
	t.Parallel()
	var waits []time.Duration
	for dispatches := range 9 {
		v := webhook.NewUnattemptedVerdict(dispatches)
		require.Equal(t, webhook.DeliveryStateWaiting, v.State)
		waits = append(waits, v.Wait/time.Second)
	}
	require.Equal(t, []time.Duration{1, 1, 2, 4, 8, 16, 32, 60, 60}, waits)
	require.Equal(t, time.Minute, webhook.NewUnattemptedVerdict(1<<20).Wait)
}
