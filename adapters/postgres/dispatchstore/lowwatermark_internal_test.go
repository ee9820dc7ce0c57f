package dispatchstore

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/ports"
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

func TestOutboxLooks_BeginWithWhatIsFresh_WhileTheRelayKeepsUp(t *testing.T) {
	t.Parallel()
	const limit = 2
	var start id.ID
	a, b := id.ID{1}, id.ID{2}
	full, part := []ports.Event{{ID: b}, {ID: a}}, []ports.Event{{ID: b}}
	var o outboxLooks
	require.Equal(t, start, o.begin(), "the first look")
	o.took(start, full, limit)
	require.Equal(t, a, o.begin(), "a backlog goes on where it was found")
	o.took(a, part, limit)
	require.Equal(t, fresh, o.begin(), "it is gone")
	o.took(fresh, nil, limit)
	require.Equal(t, fresh, o.begin())
	o.took(fresh, full, limit)
	require.Equal(t, start, o.begin(), "a full group of fresh ones may be the end of a backlog")
	o.took(start, nil, limit)

	o.full = time.Now().Add(-fullEvery)
	require.Equal(t, start, o.begin(), "what was left behind is found")
	o.saw(start, true)
	require.Equal(t, start, o.begin(), "and what was seen there is taken")
	o.saw(start, false)
	require.Equal(t, fresh, o.begin())
	o.failed()
	require.Equal(t, start, o.begin(), "what a failed look took is back")
}
