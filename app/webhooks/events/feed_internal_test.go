package events

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

func numbered(numbers ...int64) (events []ports.Event) {
	for _, n := range numbers {
		events = append(events, ports.Event{Sequence: n})
	}
	return events
}

func TestFollows_EventsWithoutAGap(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		events []ports.Event
		after  int64
		last   int64
		whole  bool
	}{
		"the next":            {numbered(8), 7, 8, true},
		"the next three":      {numbered(1, 2, 3), 0, 3, true},
		"none":                {nil, 7, 7, false},
		"the first is gone":   {numbered(9, 10), 7, 0, false},
		"a later one is gone": {numbered(8, 10), 7, 0, false},
		"one came twice":      {numbered(8, 8), 7, 0, false},
		"one from before":     {numbered(7), 7, 0, false},
	} {
		last, whole := follows(c.events, c.after)
		require.Equal(t, []any{c.last, c.whole}, []any{last, whole}, name)
	}
}

type port = webhookports.EventStore

// stored is a feed of events, of which those without data cannot be read.
type stored struct {
	port
	events []ports.Event
}

func (s stored) FeedState(context.Context, id.ID) (webhookports.FeedState, error) {
	return webhookports.FeedState{Oldest: 1, Last: int64(len(s.events))}, nil
}

func (s stored) FeedEvents(_ context.Context, _ id.ID, after int64, limit int) ([]ports.Event, error) {
	return slices.Clone(s.events[after:min(int(after)+limit, len(s.events))]), nil
}

func TestFeed_EventsThatCannotBeRead_AreLeftOut_AndAFollowerPasses(t *testing.T) {
	t.Parallel()
	s := New(Deps{Feeds: stored{events: numbered(1, 2, 3, 4, 5)}})
	s.deps.Feeds.(stored).events[3].Data = []byte(`{}`)
	for _, c := range []struct {
		after, next int64
		limit, got  int
	}{{0, 4, 2, 1}, {0, 5, 5, 1}, {4, 5, 5, 0}, {5, 5, 5, 0}} {
		page, err := s.ReadFeed(t.Context(), id.ID{1}, FeedRequest{After: &c.after, Limit: c.limit})
		require.NoError(t, err)
		require.Equal(t, []int64{c.next, int64(c.got)}, []int64{page.Next, int64(len(page.Events))}, c)
	}
}

func TestKeeps_NumbersFromBeforeTheOldestToTheLast(t *testing.T) {
	t.Parallel()
	state := webhookports.FeedState{Oldest: 5, Last: 9}
	for after, want := range map[int64]string{
		3: "after: the oldest event that is kept has the number 5.", 4: "", 7: "", 9: "",
		10: "after: the last number that was given is 9.",
	} {
		err := keeps(state, after)
		if want == "" {
			require.NoError(t, err, after)
			continue
		}
		require.ErrorIs(t, err, fault.ErrBadCursor, after)
		require.Equal(t, want, fault.FromError(err).Message, after)
	}
	empty := webhookports.FeedState{Oldest: 1}
	require.NoError(t, keeps(empty, 0), "a feed without an event")
	require.ErrorIs(t, keeps(empty, -1), fault.ErrBadCursor)
	require.ErrorIs(t, keeps(empty, 1), fault.ErrBadCursor)
}

func TestFeedID_ChangesWithThePartnerAndTheEpoch(t *testing.T) {
	t.Parallel()
	one := feedID(id.ID{1}, id.ID{2})
	require.Regexp(t, `^feed_[0-9a-z]{26}$`, one)
	require.Equal(t, one, feedID(id.ID{1}, id.ID{2}))
	require.NotEqual(t, one, feedID(id.ID{2}, id.ID{2}))
	require.NotEqual(t, one, feedID(id.ID{1}, id.ID{3}))
	require.EqualError(t, &feedGapError{7}, "events: the feed misses an event soon after number 7")
}
