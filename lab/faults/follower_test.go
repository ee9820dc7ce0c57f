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

// feedOf is an answer of the feed "feed_a" whose events have these numbers. The event of a number is always the same,
// unless its number is negative.
func feedOf(next int64, numbers ...int64) world.Answer {
	return answerOf("feed_a", next, numbers...)
}

func answerOf(feedID string, next int64, numbers ...int64) world.Answer {
	page := feedAnswer{NextAfter: next, FeedID: feedID}
	page.Data = make([]feedEvent, len(numbers))
	for i, n := range numbers {
		e := &page.Data[i]
		e.Sequence, e.ID, e.Event = n, id.Event.Of(id.ID{byte(n)}), string(webhook.DepositCancelled)
		e.Data.ID, e.Data.Status = id.Deposit.Of(id.ID{1, byte(n)}), cancelled
	}
	body, err := json.Marshal(page)
	if err != nil {
		panic(err)
	}
	return world.Answer{Status: http.StatusOK, Body: body}
}

// instead gives an event of an answer the id of another.
func instead(a world.Answer, i int, other byte) world.Answer {
	var page feedAnswer
	if err := json.Unmarshal(a.Body, &page); err != nil {
		panic(err)
	}
	page.Data[i].ID = id.Event.Of(id.ID{other})
	a.Body, _ = json.Marshal(page)
	return a
}

var refusal = world.Answer{Status: http.StatusBadRequest, Body: []byte(`{"error":{"code":"invalid_cursor"}}`)}

func TestFollower_JudgesEachAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answers   []world.Answer
		restoring bool
		wrong     bool
		after     int64
	}{
		"in parts":    {answers: []world.Answer{feedOf(2, 1, 2), feedOf(2), feedOf(3, 3)}, after: 3},
		"nothing yet": {answers: []world.Answer{feedOf(0)}},
		"no answer, and the same again": {
			answers: []world.Answer{feedOf(1, 1), {Err: errors.New("reset")}, {Status: 503}, feedOf(2, 2)}, after: 2},
		"a gap":                  {answers: []world.Answer{feedOf(1, 1), feedOf(3, 3)}, wrong: true, after: 1},
		"a gap within an answer": {answers: []world.Answer{feedOf(3, 1, 3)}, wrong: true},
		"the first is missing":   {answers: []world.Answer{feedOf(2, 2)}, wrong: true},
		"a repeat":               {answers: []world.Answer{feedOf(1, 1), feedOf(1, 1)}, wrong: true, after: 1},
		"a number twice":         {answers: []world.Answer{feedOf(2, 1, 1)}, wrong: true},
		"an event under two numbers": {answers: []world.Answer{feedOf(1, 1), instead(feedOf(2, 2), 0, 1)}, wrong: true,
			after: 2},
		"nextAfter ahead of the events":  {answers: []world.Answer{feedOf(2, 1)}, wrong: true},
		"nextAfter ahead, without event": {answers: []world.Answer{feedOf(1, 1), feedOf(2)}, wrong: true, after: 1},
		"an internal error":              {answers: []world.Answer{{Status: 500}}, wrong: true},
		"another refusal":                {answers: []world.Answer{{Status: 404}}, wrong: true},
		"no JSON":                        {answers: []world.Answer{{Status: 200, Body: []byte(`{`)}}, wrong: true},
		"refused":                        {answers: []world.Answer{feedOf(1, 1), refusal}, wrong: true},
		"another feed":                   {answers: []world.Answer{feedOf(1, 1), answerOf("feed_b", 2, 2)}, wrong: true},
		"refused after a restore": {answers: []world.Answer{feedOf(2, 1, 2), refusal, answerOf("feed_b", 1, 1)},
			restoring: true, after: 1},
		"another feed after a restore": {answers: []world.Answer{feedOf(1, 1), answerOf("feed_b", 2, 2),
			answerOf("feed_b", 1, 1)}, restoring: true, after: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newReceiptLog()
			f := newFollower(&world.Partner{Name: "steady"}, nil, 1, l.violate)
			f.restoring = c.restoring
			for _, a := range c.answers {
				f.take(a, f.kept, false)
			}
			require.Equal(t, c.wrong, l.count("feed") > 0, l.violations)
			require.Equal(t, c.after, f.kept.after)
			if !c.wrong {
				require.Len(t, f.events, int(c.after))
			}
		})
	}
}

// A follower that has died before it stored an answer asks again, and knows when the same number is another event.
func TestFollower_ThatDied_GetsTheSameEventsAgain(t *testing.T) {
	t.Parallel()
	l := newReceiptLog()
	f := newFollower(&world.Partner{}, nil, 1, l.violate)
	f.take(feedOf(2, 1, 2), f.kept, true)
	require.Equal(t, bookmark{}, f.kept)
	require.Empty(t, f.events)
	f.take(feedOf(2, 1, 2), f.kept, false)
	require.Empty(t, l.violations)
	require.Equal(t, bookmark{2, "feed_a"}, f.kept)

	f.take(feedOf(4, 3, 4), f.kept, true)
	f.take(instead(feedOf(4, 3, 4), 1, 9), f.kept, false)
	require.Equal(t, 1, l.count("feed"))
	require.EqualValues(t, 2, f.kept.after)
}

func TestAudit_ComparesAFeedWithTheHistory(t *testing.T) {
	t.Parallel()
	partnerID, now := id.ID{1}, time.Now()
	// A deposit is secured and captured; another is cancelled.
	facts := map[id.ID]fact{}
	for i, f := range []fact{
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
	renamed[2].name = string(webhook.DepositExpired)
	for name, c := range map[string]struct {
		events []followed
		want   map[string]int
	}{
		"complete":                  {events(0, 1, 2), nil},
		"deposits in another order": {events(2, 0, 1), nil},
		"one is missing":            {events(0, 2), map[string]int{"feed": 1}},
		"in a wrong order":          {events(1, 0, 2), map[string]int{"feed order": 1}},
		"one that never happened":   {append(events(0, 1, 2), followed{event: id.ID{7}}), map[string]int{"feed": 1}},
		"under another name":        {renamed, map[string]int{"feed": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &audit{suite: &suite{receipts: newReceiptLog()}, cut: now.Add(time.Second), facts: facts}
			a.feed(&world.Partner{ID: partnerID}, c.events, map[key]id.ID{})
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
