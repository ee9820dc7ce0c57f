package postgres

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFloors_BeginWhereTheLastLookFoundSomething_AndAtTheStartNowAndThen(t *testing.T) {
	t.Parallel()
	var f floors[string, int]
	require.Zero(t, f.begin("a"), "the first look")
	f.found("a", 7, true)
	require.Equal(t, 7, f.begin("a"))
	f.found("a", 9, true)
	require.Equal(t, 9, f.begin("a"))
	require.Zero(t, f.begin("b"), "another backlog")

	e := f.of["a"]
	e.full = time.Now().Add(-fullEvery)
	f.of["a"] = e
	require.Zero(t, f.begin("a"), "what was left behind is found")
	f.found("a", 3, true)
	require.Equal(t, 3, f.begin("a"))

	f.found("a", 0, false)
	require.NotContains(t, f.of, "a", "a backlog that is gone is forgotten")
	require.Zero(t, f.begin("a"))
}
