package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/world"
)

// feedOf is an answer of the feed "feed_a" whose events have these numbers. The event of a number is always the same.
func feedOf(next int64, numbers ...int64) world.APIResponse {
	return answerOf("feed_a", next, 0, numbers...)
}

// answerOf is an answer of a feed whose events have these numbers, and ids that are other away from the usual.
func answerOf(feedID string, next int64, other byte, numbers ...int64) world.APIResponse {
	page := feedAnswer{NextAfter: next, FeedID: feedID}
	page.Data = make([]feedEvent, len(numbers))
	for i, n := range numbers {
		e := &page.Data[i]
		e.Sequence, e.ID, e.Event = n, id.Event.Of(id.ID{byte(n) + other}), string(webhook.EventDepositCancelled)
		e.Data.ID, e.Data.Status = id.Deposit.Of(id.ID{1, byte(n)}), cancelled
	}
	body, err := json.Marshal(page)
	if err != nil {
		panic(err)
	}
	return world.APIResponse{Status: http.StatusOK, Body: body}
}

func TestFollower_JudgesEachAnswer(t *testing.T) {
	t.Parallel()
	refusal := world.APIResponse{Status: http.StatusBadRequest, Body: []byte(`{"error":{"code":"invalid_cursor"}}`)}
	for name, c := range map[string]struct {
		answers []world.APIResponse
		wrong   bool
		after   int64
	}{
		"in parts":    {[]world.APIResponse{feedOf(2, 1, 2), feedOf(2), feedOf(3, 3)}, false, 3},
		"nothing yet": {[]world.APIResponse{feedOf(0)}, false, 0},
		"no answer, and the same again": {
			[]world.APIResponse{feedOf(1, 1), {Err: errors.New("reset")}, {Status: 503}, feedOf(2, 2)}, false, 2},
		"a gap":                          {[]world.APIResponse{feedOf(1, 1), feedOf(3, 3)}, true, 1},
		"a gap within an answer":         {[]world.APIResponse{feedOf(3, 1, 3)}, true, 0},
		"the first is missing":           {[]world.APIResponse{feedOf(2, 2)}, true, 0},
		"a repeat":                       {[]world.APIResponse{feedOf(1, 1), feedOf(1, 1)}, true, 1},
		"a number twice":                 {[]world.APIResponse{feedOf(2, 1, 1)}, true, 0},
		"nextAfter ahead of the events":  {[]world.APIResponse{feedOf(2, 1)}, true, 0},
		"nextAfter ahead, without event": {[]world.APIResponse{feedOf(1, 1), feedOf(2)}, true, 1},
		"an internal error":              {[]world.APIResponse{{Status: 500}}, true, 0},
		"another refusal":                {[]world.APIResponse{{Status: 404}}, true, 0},
		"no JSON":                        {[]world.APIResponse{{Status: 200, Body: []byte(`{`)}}, true, 0},
		"refused":                        {[]world.APIResponse{feedOf(1, 1), refusal}, true, 1},
		"another feed":                   {[]world.APIResponse{feedOf(1, 1), answerOf("feed_b", 2, 0, 2)}, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newReceiptLog()
			f := newFollower(&world.Partner{Name: "steady"}, nil, 1, l.violate)
			for _, a := range c.answers {
				f.take(a, false)
			}
			require.Equal(t, c.wrong, l.count("feed") > 0, l.violations)
			events, after := f.now()
			require.Equal(t, c.after, after)
			require.Len(t, events, int(c.after))
		})
	}
}

// A follower that has died before it stored an answer asks again, and knows when the same number is another event.
func TestFollower_ThatDied_GetsTheSameEventsAgain(t *testing.T) {
	t.Parallel()
	l := newReceiptLog()
	f := newFollower(&world.Partner{}, nil, 1, l.violate)
	f.take(feedOf(2, 1, 2), true)
	require.Zero(t, f.after)
	require.Empty(t, f.feedID)
	require.Empty(t, f.events)
	f.take(feedOf(2, 1, 2), false)
	require.Empty(t, l.violations)
	require.EqualValues(t, 2, f.after)
	f.take(feedOf(4, 3, 4), true)
	f.take(answerOf("feed_a", 4, 90, 3, 4), false)
	require.Equal(t, 1, l.count("feed"))
	require.EqualValues(t, 2, f.after)
}

func TestAudit_ComparesAFeedWithTheHistory(t *testing.T) {
	t.Parallel()
	partnerID, now := id.ID{1}, time.Now()
	// A deposit is secured and captured; another is cancelled.
	facts := map[id.ID]committedChange{}
	for i, f := range []committedChange{
		{Deposit: id.ID{2}, Version: 1, Status: active}, {Deposit: id.ID{2}, Version: 2, Status: captured},
		{Deposit: id.ID{3}, Version: 1, Status: cancelled},
	} {
		f.Event, f.Partner, f.Committed = id.ID{9, byte(i)}, partnerID, now
		facts[f.Event] = f
	}
	events := func(order ...byte) (list []followed) {
		for _, i := range order {
			f := facts[id.ID{9, i}]
			list = append(list, followed{f.Event, f.Deposit, string(f.name()), f.Status})
		}
		return list
	}
	renamed := events(0, 1, 2)
	renamed[2].name = string(webhook.EventDepositExpired)
	for name, c := range map[string]struct {
		events []followed
		want   map[string]int
	}{
		"complete":                  {events(0, 1, 2), nil},
		"deposits in another order": {events(2, 0, 1), nil},
		"one is missing":            {events(0, 2), map[string]int{"feed": 1}},
		"in a wrong order":          {events(1, 0, 2), map[string]int{"feed order": 1}},
		"one comes twice":           {events(0, 1, 1, 2), map[string]int{"feed order": 1}},
		"one that never happened":   {append(events(0, 1, 2), followed{event: id.ID{7}}), map[string]int{"feed": 1}},
		"under another name":        {renamed, map[string]int{"feed": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &audit{suite: &suite{receipts: newReceiptLog()}, cut: now.Add(time.Second), facts: facts}
			a.feed(&world.Partner{ID: partnerID}, c.events)
			got := map[string]int(nil)
			for kind, all := range a.receipts.violations {
				if got == nil {
					got = map[string]int{}
				}
				got[kind] = len(all)
			}
			require.Equal(t, c.want, got, fmt.Sprint(a.receipts.violations))
		})
	}
}
