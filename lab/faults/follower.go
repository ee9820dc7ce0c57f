package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/world"
)

// follower is a simulated partner that reads the event feed (docs/guides/feed.md) and checks every answer.
type follower struct {
	owner   *world.Partner
	bases   []string
	client  *world.APIClient
	dice    *rand.Rand
	violate violates

	mu sync.Mutex
	// The position (nextAfter) behind the last stored feed answer. A real partner keeps it in its database, with
	// feedId and events.
	after int64
	// The feedId of the last stored feed answer; "": none yet.
	feedID string
	events []followed // The stored events of the feed by sequence number.
	// The event of each sequence number of the feed, dropped answers included.
	shown map[int64]id.ID
	// Values of waitSeconds, of which each feed request draws one.
	waits []int
}

type followed struct {
	event, deposit id.ID
	name           string
	status         status
}

type feedAnswer struct {
	Data      []feedEvent
	NextAfter int64
	FeedID    string
}

type feedEvent struct {
	Sequence  int64
	ID, Event string
	Data      struct {
		ID     string
		Status status
	}
}

func newFollower(t *world.Partner, bases []string, seed uint64, violate violates) *follower {
	// longest is an HTTP timeout beyond the longest waitSeconds.
	const longest = 40 * time.Second
	return &follower{
		owner: t, bases: bases, violate: violate, client: world.NewAPIClient(longest, 0),
		dice:  rand.New(rand.NewPCG(seed, 3)), //nolint:gosec // repeatable on purpose
		shown: map[int64]id.ID{}, waits: []int{25, 25, 5, 0},
	}
}

// follow reads the event feed until ctx ends. It drops answers at random, like a program that dies before it has
// stored them.
func (f *follower) follow(ctx context.Context) {
	for n := 0; ; n++ {
		a := f.read(ctx, f.bases[n%len(f.bases)])
		if ctx.Err() != nil {
			return
		}
		if !f.take(a, f.dice.IntN(24) == 0) {
			_ = world.Sleep(ctx, 50*ms) // The end of ctx ends the loop.
		}
	}
}

// read requests the events of the feed that this reader lacks from the http process at base.
func (f *follower) read(ctx context.Context, base string) world.APIResponse {
	f.mu.Lock()
	path := fmt.Sprintf("/events/feed?limit=%d&waitSeconds=%d", 1+f.dice.IntN(100), f.waits[f.dice.IntN(len(f.waits))])
	if f.feedID != "" {
		path += fmt.Sprintf("&after=%d", f.after)
	}
	f.mu.Unlock()
	return f.client.Do(ctx, world.APICall{Base: base, APIKey: f.owner.Key, Method: http.MethodGet, Path: path})
}

// take stores the events of a feed answer, and reports whether there were any. If dies is true, it drops the
// answer.
func (f *follower) take(a world.APIResponse, dies bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if a.Err != nil || a.Status > http.StatusInternalServerError {
		return false
	}
	var page feedAnswer
	err := json.Unmarshal(a.Body, &page)
	switch {
	// The feed answers 500 when its sequence numbers have a gap: a violation.
	case err != nil || a.Status != http.StatusOK:
		f.violate("feed", "%s after %d: %d %s %v", f.owner.Name, f.after, a.Status, a.Body, err)
		return false
	case f.feedID != "" && page.FeedID != f.feedID:
		f.violate("feed", "%s: the feed %s became %s", f.owner.Name, f.feedID, page.FeedID)
		return false
	case !f.show(page) || len(page.Data) == 0:
		return false
	case dies:
		return true
	}
	for _, e := range page.Data {
		event, _ := id.Event.Parse(e.ID)
		deposit, _ := id.Deposit.Parse(e.Data.ID)
		f.events = append(f.events, followed{event, deposit, e.Event, e.Data.Status})
	}
	f.after, f.feedID = page.NextAfter, page.FeedID
	return true
}

// show checks that the sequence numbers of a feed answer have no gap, and the same events as in earlier answers.
func (f *follower) show(page feedAnswer) bool {
	n := f.after
	for _, e := range page.Data {
		if n++; e.Sequence != n {
			f.violate("feed", "%s: the number %d follows %d", f.owner.Name, e.Sequence, n-1)
			return false
		}
		event, _ := id.Event.Parse(e.ID)
		if before, known := f.shown[n]; known && before != event {
			f.violate("feed", "%s: the number %d was given to %s and then to %s", f.owner.Name, n, id.Event.Of(before),
				e.ID)
			return false
		}
		f.shown[n] = event
	}
	if page.NextAfter != n {
		f.violate("feed", "%s: nextAfter is %d behind the number %d", f.owner.Name, page.NextAfter, n)
		return false
	}
	return true
}

// now returns the reader's stored events of the feed, and the last sequence number.
func (f *follower) now() (events []followed, after int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.events, f.after
}
