package webhook_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/webhook"
)

const slots = 64 // of an endpoint

// quickly is an attempt with that result, slowly another that took two seconds.
func quickly(result webhook.AttemptResult) webhook.Attempt {
	return webhook.Attempt{Result: result, Duration: 2*time.Second - 1}
}

func slowly(result webhook.AttemptResult) webhook.Attempt {
	return webhook.Attempt{Result: result, Duration: 2 * time.Second}
}

func TestHealth_AfterASuccess(t *testing.T) {
	t.Parallel()
	ok := quickly(webhook.ResultSuccess)
	for name, c := range map[string]struct {
		before  webhook.Health
		attempt webhook.Attempt
		want    webhook.Health
	}{
		"clean": {webhook.Health{}, ok, webhook.Health{}},
		"slow":  {webhook.Health{}, slowly(webhook.ResultSuccess), webhook.Health{Slow: true}},
		"slow again": {
			webhook.Health{Slow: true, Quick: 4}, slowly(webhook.ResultSuccess), webhook.Health{Slow: true},
		},
		"quick, in the slow lane": {webhook.Health{Slow: true, Quick: 3}, ok, webhook.Health{Slow: true, Quick: 4}},
		"the fifth quick one":     {webhook.Health{Slow: true, Quick: 4}, ok, webhook.Health{}},
		"after failures": {
			webhook.Health{Failures: 4, FailingSince: noon, FailedProbes: 1}, ok, webhook.Health{},
		},
		"a probe": {
			webhook.Health{Failures: 20, FailingSince: noon, FailedProbes: 3, OpenUntil: noon, Trouble: true}, ok,
			webhook.Health{Ramp: 1, Trouble: true},
		},
		"half-open": {
			webhook.Health{Ramp: 16, Trouble: true}, ok, webhook.Health{Ramp: 32, Trouble: true},
		},
		"the last of the ramp":    {webhook.Health{Ramp: 32, Trouble: true}, ok, webhook.Health{}},
		"trouble of another kind": {webhook.Health{Trouble: true}, ok, webhook.Health{}},
	} {
		require.Equal(t, c.want, c.before.AfterAttempt(c.attempt, slots, noon), name)
	}
	single := webhook.Health{OpenUntil: noon}.AfterAttempt(ok, 1, noon)
	require.Equal(t, webhook.Health{}, single, "a single slot needs no ramp")
}

func TestHealth_AfterAFailure(t *testing.T) {
	t.Parallel()
	failed := quickly(webhook.ResultNon2xx)
	early, late := noon.Add(-5*time.Second+1), noon.Add(-5*time.Second)
	open := func(failures, failedProbes int, until time.Time) webhook.Health {
		return webhook.Health{
			Failures: failures, FailingSince: late, Slow: true, FailedProbes: failedProbes, OpenUntil: until, Trouble: true,
		}
	}
	for name, c := range map[string]struct {
		before  webhook.Health
		attempt webhook.Attempt
		want    webhook.Health
	}{
		"the first": {webhook.Health{}, failed, webhook.Health{Failures: 1, FailingSince: noon}},
		"the first, slow": {
			webhook.Health{}, slowly(webhook.ResultTimeout),
			webhook.Health{Failures: 1, FailingSince: noon, Slow: true},
		},
		"ends the quick ones": {
			webhook.Health{Slow: true, Quick: 4}, failed, webhook.Health{Failures: 1, FailingSince: noon, Slow: true},
		},
		"the fourth": {
			webhook.Health{Failures: 3, FailingSince: early}, failed, webhook.Health{Failures: 4, FailingSince: early},
		},
		"the fifth": {
			webhook.Health{Failures: 4, FailingSince: early}, failed,
			webhook.Health{Failures: 5, FailingSince: early, Slow: true},
		},
		"the 20th within 5 s": {
			webhook.Health{Failures: 19, FailingSince: early, Slow: true}, failed,
			webhook.Health{Failures: 20, FailingSince: early, Slow: true},
		},
		"the 19th after 5 s": {
			webhook.Health{Failures: 18, FailingSince: late, Slow: true}, failed,
			webhook.Health{Failures: 19, FailingSince: late, Slow: true},
		},
		"the 20th after 5 s opens the circuit": {
			webhook.Health{Failures: 19, FailingSince: late, Slow: true}, failed,
			open(20, 1, noon.Add(time.Second)),
		},
		"a POST from before the circuit opened": {
			open(20, 1, noon.Add(1)), failed,
			open(21, 1, noon.Add(1)),
		},
		"a probe waits twice as long": {
			open(20, 3, noon), failed,
			open(21, 4, noon.Add(8*time.Second)),
		},
		"the wait has a bound": {
			open(90, 70, noon), failed,
			open(91, 71, noon.Add(5*time.Minute)),
		},
		"half-open, a few failures": {
			webhook.Health{Ramp: 16, Trouble: true}, failed,
			webhook.Health{Failures: 1, FailingSince: noon, Ramp: 8, Trouble: true},
		},
		"half-open, at the least": {
			webhook.Health{Ramp: 1, Trouble: true}, failed,
			webhook.Health{Failures: 1, FailingSince: noon, Ramp: 1, Trouble: true},
		},
		"half-open, the fifth failure opens again": {
			webhook.Health{Failures: 4, FailingSince: early, Ramp: 2}, failed,
			webhook.Health{
				Failures: 5, FailingSince: early, Slow: true, FailedProbes: 1, OpenUntil: noon.Add(time.Second),
				Trouble: true,
			},
		},
	} {
		require.Equal(t, c.want, c.before.AfterAttempt(c.attempt, slots, noon), name)
	}
}

func TestHealth_DecidesLaneSlotsAndRoom(t *testing.T) {
	t.Parallel()
	const window = 512
	for name, c := range map[string]struct {
		health      webhook.Health
		slow        bool
		slots, room int
	}{
		"clean":            {webhook.Health{}, false, slots, window},
		"a few failures":   {webhook.Health{Failures: 4}, false, slots, window},
		"slow":             {webhook.Health{Slow: true}, true, slots, slots},
		"failing":          {webhook.Health{Failures: 5, Slow: true}, true, 8, 8},
		"failing quickly":  {webhook.Health{Failures: 5}, false, 8, 8},
		"half-open":        {webhook.Health{Ramp: 4}, true, 4, 4},
		"half-open, above": {webhook.Health{Ramp: 128}, true, slots, slots},
		"open":             {webhook.Health{OpenUntil: noon.Add(1)}, true, 1, 0},
		"open, probe due":  {webhook.Health{OpenUntil: noon}, true, 1, 1},
	} {
		require.Equal(t, c.slow, c.health.InSlowLane(), name)
		require.Equal(t, c.slots, c.health.MaxPostsInFlight(slots), name)
		require.Equal(t, c.room, c.health.ClaimLimit(slots, window, noon), name)
	}
	require.Equal(t, 1, webhook.Health{Failures: 5}.MaxPostsInFlight(4), "at least one")
}

func TestNoticeOf_EveryChangeOfHealth(t *testing.T) {
	t.Parallel()
	clean, failing, troubled := webhook.Health{}, webhook.Health{Failures: 3}, webhook.Health{Trouble: true}
	open, ramp := webhook.Health{OpenUntil: noon, Trouble: true}, webhook.Health{Ramp: 2, Trouble: true}
	for name, c := range map[string]struct {
		before, after webhook.Health
		want          webhook.NoticeKind
	}{
		"stays healthy":                       {clean, clean, ""},
		"begins to fail":                      {clean, failing, ""},
		"the circuit opens":                   {failing, open, webhook.NoticeEndpointHeld},
		"stays open":                          {open, open, ""},
		"half-open":                           {open, ramp, ""},
		"opens again":                         {ramp, open, ""},
		"recovers":                            {ramp, clean, webhook.NoticeEndpointRecovered},
		"a success after a given-up delivery": {troubled, clean, webhook.NoticeEndpointRecovered},
		"fails on after a given-up delivery":  {troubled, webhook.Health{Failures: 1, Trouble: true}, ""},
	} {
		require.Equal(t, c.want, webhook.NoticeForChange(c.before, c.after), name)
	}
}

func TestAfterOutcome_TheHealthAndTheNoticeThatFollows(t *testing.T) {
	t.Parallel()
	failing := webhook.Health{Failures: 19, FailingSince: noon.Add(-time.Minute), Slow: true}
	held := failing
	held.Failures, held.FailedProbes, held.OpenUntil, held.Trouble = 20, 8, noon, true
	ramp := webhook.Health{Ramp: slots / 2, Trouble: true}
	failed, succeeded := quickly(webhook.ResultConnectFailed), quickly(webhook.ResultSuccess)
	for name, c := range map[string]struct {
		before          webhook.Health
		attempt         webhook.Attempt
		excused, gaveUp bool
		notice          webhook.NoticeKind
		pause           time.Duration // until the next probe; 0: the circuit is not open
		trouble         bool
	}{
		"a success in good health":           {webhook.Health{}, succeeded, false, false, "", 0, false},
		"a failure":                          {webhook.Health{}, failed, false, false, "", 0, false},
		"the failure that opens the circuit": {failing, failed, false, false, webhook.NoticeEndpointHeld, time.Second, true},
		"a probe that fails":                 {held, failed, false, false, "", 256 * time.Second, true},
		"… for want of our own way out":      {held, failed, true, false, "", 16 * time.Second, true},
		"the end of the ramp":                {ramp, succeeded, false, false, webhook.NoticeEndpointRecovered, 0, false},
		"a delivery that is given up":        {webhook.Health{}, failed, false, true, "", 0, true},
	} {
		next, notice := c.before.AfterAttemptWithNotice(c.attempt, c.excused, c.gaveUp, slots, noon)
		require.Equal(t, c.notice, notice, name)
		require.Equal(t, c.trouble, next.Trouble, name)
		if c.pause == 0 {
			require.False(t, next.CircuitOpen(), name)
		} else {
			require.Equal(t, noon.Add(c.pause), next.OpenUntil, name)
		}
	}
}
