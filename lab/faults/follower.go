package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/world"
)

// follower is a partner's program that only follows the feed, as docs/guides/feed.md describes. It uses HTTP alone and
// judges every answer.
type follower struct {
	owner   *world.Partner
	bases   []string // of the http processes
	client  *world.Client
	dice    *rand.Rand
	violate violates

	mu sync.Mutex
	progress
	shown   map[int64]id.ID // the event of each number, in discarded answers too
	numbers map[id.ID]int64 // of the processed events
}

// progress is how far a follower has come, and what it was told to do.
type progress struct {
	waits     []int // seconds, of which each request draws its own
	held      bool  // reads nothing
	restoring bool  // a restore may have begun another feed
	kept      bookmark
	events    []followed // processed, in the order of their numbers
	counts    counts     // of answers
}

// bookmark is the state that a partner keeps in its database: nextAfter and feedId of the last answer that it
// processed.
type bookmark struct {
	after  int64
	feedID string // "": nothing was processed
}

// followed is an event that a follower has processed.
type followed struct {
	event, deposit id.ID
	name           string
	status         status
}

// counts are numbers by what was counted.
type counts map[string]int

// Answers of a feed that a restore explains.
const (
	refusedAnswers = "refused"         // invalid_cursor
	otherFeeds     = "of another feed" // with another feedId
)

// feedAnswer is the body of an answer of the feed.
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
	const longest = 40 * time.Second // beyond the longest wait
	f := &follower{
		owner: t, bases: bases, violate: violate, client: world.NewClient(longest, 0),
		dice:     rand.New(rand.NewPCG(seed, 3)), //nolint:gosec // repeatable on purpose
		progress: progress{waits: []int{25, 25, 5, 0}, counts: counts{}},
	}
	f.forget()
	return f
}

// forget begins a feed anew.
func (f *follower) forget() {
	f.kept, f.events, f.shown, f.numbers = bookmark{}, nil, map[int64]id.ID{}, map[id.ID]int64{}
}

// follow reads the feed until ctx ends.
func (f *follower) follow(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		now := f.now()
		if now.held {
			_ = pause(ctx, 20*ms) // ctx ends the loop
			continue
		}
		a := f.read(ctx, n, now.kept, now.waits[f.dice.IntN(len(now.waits))])
		if ctx.Err() != nil {
			return
		}
		if rest := f.take(a, now.kept, f.dice.IntN(24) == 0); rest > 0 {
			_ = pause(ctx, rest)
		}
	}
}

// read asks one of the http processes.
func (f *follower) read(ctx context.Context, n int, at bookmark, wait int) world.Answer {
	path := fmt.Sprintf("/events/feed?limit=%d&waitSeconds=%d", 1+f.dice.IntN(100), wait)
	if at.feedID != "" {
		path += fmt.Sprintf("&after=%d", at.after)
	}
	return f.client.Do(ctx,
		world.Call{Base: f.bases[n%len(f.bases)], APIKey: f.owner.Key, Method: http.MethodGet, Path: path})
}

// take processes an answer to a request for the events after at, and returns how long to rest. With dies the follower
// dies after it has read the answer and before it stores anything.
func (f *follower) take(a world.Answer, at bookmark, dies bool) (rest time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts["answers"]++
	const patience = 50 * time.Millisecond
	switch {
	case a.Err == nil && a.Status == http.StatusInternalServerError:
		f.violate("feed", "%s after %d: 500 %s", f.owner.Name, at.after, a.Body)
		fallthrough
	case a.Err != nil || a.Status >= http.StatusInternalServerError:
		f.counts["lost, or 5xx"]++
		return patience
	case a.Says(http.StatusBadRequest, "invalid_cursor"):
		f.counts[refusedAnswers]++
		f.begin("%s: after %d is refused: %s", f.owner.Name, at.after, a.Body)
		return patience
	case a.Status != http.StatusOK:
		f.violate("feed", "%s after %d: %d %s", f.owner.Name, at.after, a.Status, a.Body)
		return patience
	}
	var page feedAnswer
	if err := json.Unmarshal(a.Body, &page); err != nil {
		f.violate("feed", "%s after %d: %v", f.owner.Name, at.after, err)
		return patience
	}
	if at.feedID != "" && page.FeedID != at.feedID {
		f.counts[otherFeeds]++
		f.begin("%s: the feed %s became %s", f.owner.Name, at.feedID, page.FeedID)
		return 0
	}
	if !f.show(page, at) || len(page.Data) == 0 {
		f.counts["empty"]++
		return patience
	}
	if dies || f.held {
		f.counts["lost with the follower"]++
		return 0
	}
	f.process(page)
	return 0
}

// begin reads the feed anew, which only a restore may cause.
func (f *follower) begin(format string, args ...any) {
	if !f.restoring {
		f.violate("feed", format, args...)
	}
	f.forget()
}

// show checks that the numbers of an answer follow at without a gap, and that each number has the event it always had.
func (f *follower) show(page feedAnswer, at bookmark) bool {
	n := at.after
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

// process stores the events together with the bookmark, as a partner does in a single transaction.
func (f *follower) process(page feedAnswer) {
	for _, e := range page.Data {
		event, _ := id.Event.Parse(e.ID)
		deposit, _ := id.Deposit.Parse(e.Data.ID)
		if before, twice := f.numbers[event]; twice {
			f.violate("feed", "%s: %s came under the numbers %d and %d", f.owner.Name, e.ID, before, e.Sequence)
		}
		f.numbers[event] = e.Sequence
		f.events = append(f.events, followed{event, deposit, e.Event, e.Data.Status})
	}
	f.kept = bookmark{page.NextAfter, page.FeedID}
}

// now is the progress of the follower.
func (f *follower) now() (p progress) {
	f.change(func() {
		p = f.progress
		p.counts = maps.Clone(p.counts)
	})
	return p
}

// change runs fn while no answer is processed.
func (f *follower) change(fn func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fn()
}
