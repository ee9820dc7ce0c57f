package webhook_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
)

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

func replayOf(t *testing.T, from, to time.Time) webhook.Replay {
	t.Helper()
	r, err := webhook.NewReplay(id.ID{1}, id.ID{2}, from, to, "", noon)
	require.NoError(t, err)
	return r
}

// found makes n ids, oldest first.
func found(n int) []id.ID {
	out := make([]id.ID, n)
	for i := range out {
		out[i] = id.ID{14: byte(i >> 8), 15: byte(i + 1)}
	}
	return out
}

func TestNewReplay_RepeatsWhatFailedUnlessToldOtherwise(t *testing.T) {
	t.Parallel()
	require.Equal(t, webhook.StatusFailed, replayOf(t, noon.Add(-time.Hour), noon).Status)
	for _, status := range webhook.DeliveryStatuses {
		r, err := webhook.NewReplay(id.ID{1}, id.ID{2}, noon.Add(-time.Hour), noon, status, noon)
		require.NoError(t, err)
		require.Equal(t, status, r.Status)
	}
	_, err := webhook.NewReplay(id.ID{1}, id.ID{2}, noon.Add(-time.Hour), noon, "lost", noon)
	require.ErrorIs(t, err, fault.ErrInvalidField)
}

func TestNewReplay_OfNoTimeAtAll_IsRefused(t *testing.T) {
	t.Parallel()
	for _, to := range []time.Time{noon, noon.Add(-time.Microsecond)} {
		_, err := webhook.NewReplay(id.ID{1}, id.ID{2}, noon, to, "", noon)
		require.ErrorIs(t, err, webhook.ErrReplayRange)
	}
}

func TestReplay_EndsWhereItBegan_AndBeginsNotBeforeIDs(t *testing.T) {
	t.Parallel()
	require.Equal(t, noon.Add(-time.Minute), replayOf(t, noon.Add(-time.Hour), noon.Add(-time.Minute)).RangeEnd())
	require.Equal(t, noon, replayOf(t, noon.Add(-time.Hour), noon.Add(time.Hour)).RangeEnd())
	ancient := replayOf(t, time.Time{}, time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC))
	require.Equal(t, []time.Time{time.Unix(0, 0).UTC(), time.Unix(0, 0).UTC()}, []time.Time{ancient.From, ancient.To})
}

func TestReplay_StepsOnceASecond_AndEndsWithAShortStep(t *testing.T) {
	t.Parallel()
	r := replayOf(t, noon.Add(-time.Hour), noon)
	require.Equal(t, webhook.ReplayRedeliveriesPerSecond, r.StepSize())
	full := found(r.StepSize())
	r = r.AdvancedByStep(full, len(full), noon)
	require.Equal(t, []any{50, full[49], noon.Add(time.Second), true},
		[]any{r.Redelivered, r.Cursor, r.NextAt, r.FinishedAt.IsZero()})
	r = r.AdvancedByStep(full[:3], 2, noon.Add(time.Second))
	require.Equal(t, []any{52, full[2], noon.Add(time.Second)}, []any{r.Redelivered, r.Cursor, r.FinishedAt})
	empty := replayOf(t, noon.Add(-time.Hour), noon).AdvancedByStep(nil, 0, noon)
	require.Equal(t, []any{0, id.ID{}, noon}, []any{empty.Redelivered, empty.Cursor, empty.FinishedAt})
}

// The next step of any replay of the partner waits for what a step made, also where that was the last step.
func TestReplay_AStepTakesAsLongAsItsRedeliveries(t *testing.T) {
	t.Parallel()
	full := found(50)
	for name, c := range map[string]struct {
		paced time.Duration // before the step, of other replays
		found []id.ID
		made  int
		want  time.Duration // after the step
		ended bool
	}{
		"whole":                             {0, full, 50, time.Second, false},
		"short":                             {0, full[:40], 40, 800 * time.Millisecond, true},
		"of one":                            {0, full[:1], 1, 20 * time.Millisecond, true},
		"of none":                           {0, nil, 0, 0, true},
		"whole, of which few were there":    {0, full, 2, 40 * time.Millisecond, false},
		"behind another that was paced":     {-100 * time.Millisecond, full[:40], 40, 700 * time.Millisecond, true},
		"behind another of long ago":        {-time.Hour, full[:40], 40, -200 * time.Millisecond, true}, // a second late
		"asked for after another had ended": {-time.Minute, full, 50, 0, false},
	} {
		r := replayOf(t, noon.Add(-time.Hour), noon)
		if c.paced != 0 {
			r.NextAt, r.PacedUntil = noon.Add(-2*time.Hour), noon.Add(c.paced)
		}
		r = r.AdvancedByStep(c.found, c.made, noon)
		require.Equal(t, []any{noon.Add(c.want), noon.Add(c.want), c.ended},
			[]any{r.NextAt, r.PacedUntil, !r.FinishedAt.IsZero()}, name)
	}
}

func TestReplay_AStepThatHasReadItsShare_UsesASecondOfThePace(t *testing.T) {
	t.Parallel()
	r := replayOf(t, noon.Add(-time.Hour), noon)
	r = r.AdvancedByStep(found(3), 3, noon).AdvancedToReadLimit(id.ID{9}, noon)
	second := noon.Add(time.Second)
	require.Equal(t, []any{3, id.ID{9}, second, second, true},
		[]any{r.Redelivered, r.Cursor, r.NextAt, r.PacedUntil, r.FinishedAt.IsZero()})
	r = r.AdvancedByStep(nil, 0, noon.Add(2*time.Second)).AdvancedToReadLimit(id.ID{10}, noon.Add(2*time.Second))
	require.Equal(t, []any{noon.Add(3 * time.Second), noon.Add(3 * time.Second)}, []any{r.NextAt, r.PacedUntil})
}

// A replay that only looked leaves the pace to the partner's other replays.
func TestReplay_PutOff_UsesNoPace(t *testing.T) {
	t.Parallel()
	r := replayOf(t, noon.Add(-time.Hour), noon).Postponed(noon)
	require.Equal(t, []any{noon.Add(time.Second), time.Time{}}, []any{r.NextAt, r.PacedUntil})
}

func TestReplay_ALateStepIsCaughtUpWith_APauseIsNot(t *testing.T) {
	t.Parallel()
	r := replayOf(t, noon.Add(-time.Hour), noon)
	full := found(r.StepSize())
	require.Equal(t, noon.Add(time.Second), r.AdvancedByStep(full, len(full), noon.Add(300*time.Millisecond)).NextAt)
	// After a pause of an hour, two steps may follow at once, and no more.
	late := noon.Add(time.Hour)
	r = r.AdvancedByStep(full, len(full), late)
	require.Equal(t, late, r.NextAt)
	r = r.AdvancedByStep(full, len(full), late)
	require.Equal(t, late.Add(time.Second), r.NextAt)
}
