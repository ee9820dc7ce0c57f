package outage_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/ports/platform/outage"
)

// told gives the lines about a minute and a half of failures, ten a second, among successes, and of successes alone.
func told(t *testing.T, level slog.Level) (lines []string) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		l := outage.New(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: level})))
		for range 900 {
			l.RecordFailure(t.Context(), "the database is away", "error", errors.New("refused"))
			<-time.After(100 * time.Millisecond)
			l.RecordSuccess(t.Context())
		}
		for range 100 {
			l.RecordSuccess(t.Context())
			<-time.After(100 * time.Millisecond)
		}
		lines = strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	})
	return lines
}

func TestLog_AnOutage_IsToldWhenItBeginsEveryHalfMinuteAndWhenItEnds(t *testing.T) {
	t.Parallel()
	lines := told(t, slog.LevelInfo)
	require.Len(t, lines, 4)
	require.Contains(t, lines[0], `level=WARN msg="the database is away" error=refused`)
	for _, line := range lines[1:3] {
		require.Contains(t, line,
			`level=WARN msg="still: the database is away" error=refused since=2000-01-01T00:00:00.000Z failures=300`)
	}
	require.Contains(t, lines[3], `level=INFO msg="over: the database is away" lasted_seconds=92.9 failures=900`)
}

func TestLog_ForDebugging_TellsEveryFailure(t *testing.T) {
	t.Parallel()
	require.Len(t, told(t, slog.LevelDebug), 901)
}

func TestLog_TheNextOutage_IsToldAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		l := outage.New(slog.New(slog.NewTextHandler(&out, nil)))
		for _, end := range []func(){func() { l.EndOutage(t.Context(), "it is back") }, func() { <-time.After(time.Hour) },
			func() {}} {
			l.RecordFailure(t.Context(), "it is away")
			end()
		}
		require.Equal(t, 3, strings.Count(out.String(), `msg="it is away"`), out.String())
		require.Equal(t, 1, strings.Count(out.String(), `msg="it is back"`))
		l.EndOutage(t.Context(), "it is back")
		l.EndOutage(t.Context(), "it is back")
		require.Equal(t, 2, strings.Count(out.String(), `msg="it is back"`), "only an outage ends")
	})
}
