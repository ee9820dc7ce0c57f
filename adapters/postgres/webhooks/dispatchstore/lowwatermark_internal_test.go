package dispatchstore

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWatermarks_StartWhereTheScanBeforeFoundRows_AndAtTheBeginningNowAndThen(t *testing.T) {
	t.Parallel()
	var w watermarks[string, int]
	require.Zero(t, w.start("a"), "the first scan")
	w.set("a", 7, true)
	require.Equal(t, 7, w.start("a"))
	w.set("a", 9, true)
	require.Equal(t, 9, w.start("a"))
	require.Zero(t, w.start("b"), "another backlog")

	m := w.byKey["a"]
	m.full = time.Now().Add(-fullEvery)
	w.byKey["a"] = m
	require.Zero(t, w.start("a"), "a full scan finds rows below the watermark")
	w.set("a", 3, true)
	require.Equal(t, 3, w.start("a"))

	w.set("a", 0, false)
	require.NotContains(t, w.byKey, "a", "a consumed backlog is forgotten")
	require.Zero(t, w.start("a"))
}

// look is a look at an outbox whose first row is first, by a transaction that sees the end of all before xmin.
func (w *outboxWatermark) lookAt(first, last, xmin, xmax int64) (from int64) {
	v := w.look(1)
	v.first, v.last, v.xmin, v.xmax = first, last, xmin, xmax
	w.saw(v)
	return v.from
}

func TestOutboxWatermark_RisesWhenTheTransactionsBefore_HaveEnded(t *testing.T) {
	t.Parallel()
	const none = -1
	var w outboxWatermark
	require.Zero(t, w.lookAt(1, 100, 10, 20), "the first look")
	require.Zero(t, w.lookAt(none, 100, 11, 22), "100 were drawn by transactions below 22")
	require.Zero(t, w.lookAt(none, 100, 21, 30), "one of them still runs, and may commit a row of these positions")
	require.Zero(t, w.lookAt(none, 100, 22, 30))
	require.EqualValues(t, 101, w.lookAt(none, 150, 30, 40), "all have ended")
	require.EqualValues(t, 101, w.lookAt(120, 150, 40, 50), "150 were drawn by transactions below 50")
	require.EqualValues(t, 101, w.lookAt(120, 150, 50, 50))
	require.EqualValues(t, 120, w.lookAt(120, 150, 50, 50), "a row that is there holds the watermark")

	w.full = time.Now().Add(-fullEvery)
	require.Zero(t, w.lookAt(7, 150, 40, 40), "a full scan finds rows below the watermark")
	require.EqualValues(t, 7, w.look(1).from)

	w.asked = time.Now().Add(-fullEvery)
	require.Zero(t, w.ask())
	w.answered(0, true)
	require.Zero(t, w.look(1).from, "the relay looks where the question found rows")
}

func TestOutboxWatermark_OfAnotherServer_IsForgotten(t *testing.T) {
	t.Parallel()
	raised := func() (w *outboxWatermark) {
		w = &outboxWatermark{}
		for range 4 {
			w.lookAt(-1, 100, 30, 30)
		}
		require.EqualValues(t, 101, w.look(1).from)
		return w
	}
	require.Zero(t, raised().look(2).from, "a new connection may lead to another server")
	w := raised()
	w.lookAt(-1, 90, 40, 40)
	require.Zero(t, w.look(1).from, "positions are drawn again")
}
