package dispatchstore

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/ports"
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

func TestOutboxWatermark_IsRecent_WhileTheRelayKeepsUp(t *testing.T) {
	t.Parallel()
	const limit = 2
	var start id.ID
	a, b := id.ID{1}, id.ID{2}
	full, part := []ports.Event{{ID: b}, {ID: a}}, []ports.Event{{ID: b}}
	var w outboxWatermark
	require.Equal(t, start, w.start(), "the first scan")
	w.took(start, full, limit)
	require.Equal(t, a, w.start(), "a scan of a backlog continues at the watermark")
	w.took(a, part, limit)
	require.Equal(t, recent, w.start(), "the backlog is consumed")
	w.took(recent, nil, limit)
	require.Equal(t, recent, w.start())
	w.took(recent, full, limit)
	require.Equal(t, start, w.start(), "a full batch of recent events may be the end of a backlog")
	w.took(start, nil, limit)

	w.full = time.Now().Add(-fullEvery)
	require.Equal(t, start, w.start(), "a full scan finds rows below the watermark")
	w.saw(start, true)
	require.Equal(t, start, w.start(), "the relay takes pending events from there")
	w.saw(start, false)
	require.Equal(t, recent, w.start())
	w.reset()
	require.Equal(t, start, w.start(), "a failed relay put its events back")
}
