package schedules

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestJob_EveryRoundDecidesTheWaitForTheNext(t *testing.T) {
	t.Parallel()
	hourly := Job{Every: time.Hour, Soon: true}
	plain := Job{Every: 10 * time.Second}
	for name, c := range map[string]struct {
		job          Job
		more, failed bool
		wait         time.Duration
	}{
		"work left":                     {plain, true, false, 0},
		"done":                          {plain, false, false, 10 * time.Second},
		"failed":                        {plain, false, true, 10 * time.Second},
		"failed, with a long interval":  {hourly, false, true, time.Minute},
		"done, with a long interval":    {hourly, false, false, time.Hour},
		"failed, with a minute at most": {Job{Every: time.Second, Soon: true}, false, true, time.Second},
	} {
		require.Equal(t, c.wait, c.job.next(c.more, c.failed), name)
	}
	for _, c := range []struct {
		job  Job
		want time.Duration
	}{{plain, 10 * time.Second}, {hourly, 2 * time.Second}, {Job{Every: time.Second, Soon: true}, time.Second}} {
		require.Equal(t, c.want, c.job.first())
	}
}

func TestJitter_SpreadsByAFifth(t *testing.T) {
	t.Parallel()
	require.Zero(t, jitter(0))
	for range 1000 {
		require.InDelta(t, 10, jitter(10*time.Second).Seconds(), 2)
	}
}

func TestEach_OneThatFailsHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	told := 0
	tell := func(fails int) func(context.Context, int) error {
		told = 0
		return func(_ context.Context, n int) error {
			told++
			if n == fails {
				return broken
			}
			return nil
		}
	}
	full := make([]int, NoticeBatchSize)
	full[0] = 1
	for name, c := range map[string]struct {
		due   []int
		err   error
		fails int
		told  int
		more  bool
		want  error
	}{
		"none":                      {nil, nil, 1, 0, false, nil},
		"some":                      {full[:3], nil, 7, 3, false, nil},
		"a full batch":              {full, nil, 7, NoticeBatchSize, true, nil},
		"a failure":                 {full[:3], nil, 1, 3, false, broken},
		"a failure in a full batch": {full, nil, 1, NoticeBatchSize, false, broken},
		"the batch cannot be read":  {nil, broken, 1, 0, false, broken},
	} {
		more, err := NotifyEach(t.Context(), c.due, c.err, tell(c.fails))
		require.ErrorIs(t, err, c.want, name)
		require.Equal(t, []any{c.told, c.more}, []any{told, more}, name)
	}
}
