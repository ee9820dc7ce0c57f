// Package events holds the use cases about the events of a partner: the list, and the feed that the partner follows
// (api.md §5, "The feed").
package events

import (
	"context"
	"crypto/sha256"
	"slices"
	"strconv"
	"time"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// MaxWait is the longest that an answer of the feed is held.
const MaxWait = 25 * time.Second

// leastWait is the shortest wait of a request whose place a newer one takes: a follower that asks again at once would
// spin.
const leastWait = time.Second

// readWithin bounds a read of a request that waits, which the deadline of requests does not bound.
const readWithin = 8 * time.Second

// Deps holds the capabilities of the use cases.
type Deps struct {
	Events  webhookports.Events
	Feeds   webhookports.Events
	Waiting *Waiting
	After   func(time.Duration) <-chan time.Time // time.After
}

// Service runs the use cases.
type Service struct{ deps Deps }

// New makes the service.
func New(deps Deps) *Service { return &Service{deps: deps} }

// List lists the events of a partner.
func (s *Service) List(ctx context.Context, partnerID id.ID, f webhookports.EventFilter,
	page ports.Page) (ports.List[ports.Event], error) {
	return s.deps.Events.Events(ctx, partnerID, f, page)
}

// Get returns webhook.ErrEventNotFound.
func (s *Service) Get(ctx context.Context, partnerID, eventID id.ID) (ports.Event, error) {
	return s.deps.Events.Event(ctx, partnerID, eventID)
}

// FeedQuestion asks for the events after a number.
type FeedQuestion struct {
	After *int64 // nil: from the oldest that is kept
	Limit int
	Wait  time.Duration // how long the answer may be held until there is an event; MaxWait at most
}

// FeedPage is a part of the feed, oldest first.
type FeedPage struct {
	Events []ports.Event
	Next   int64  // the number after which the next part begins
	FeedID string // changes when the database was restored from a backup
}

// Feed gives the events after a number. Without such an event the answer waits. The wait ends at once when the process
// drains, and after a second where a further request of the partner has taken the place.
//
// Returns invalid_cursor for a number that the feed has not given or no longer keeps.
func (s *Service) Feed(ctx context.Context, partnerID id.ID, q FeedQuestion) (FeedPage, error) {
	if q.Wait <= 0 {
		return s.read(ctx, partnerID, q)
	}
	// The deadline of requests would end the wait. Each read is bounded by itself.
	ctx = context.WithoutCancel(ctx)
	place, ok := s.deps.Waiting.enter(partnerID) // before the first read, so that no ring is lost
	if !ok {
		return s.readBounded(ctx, partnerID, q)
	}
	defer place.leave()
	over, least := s.deps.After(min(q.Wait, MaxWait)), s.deps.After(leastWait)
	for {
		rung := place.rung()
		page, err := s.readBounded(ctx, partnerID, q)
		if err != nil || len(page.Events) > 0 {
			return page, err
		}
		place.knows(page.Next)
		select {
		case <-rung:
		case <-over:
			return page, nil
		case <-s.deps.Waiting.drained:
			return page, nil
		case <-place.taken:
			select {
			case <-least:
			case <-over:
			case <-s.deps.Waiting.drained:
			}
			return page, nil
		}
	}
}

func (s *Service) readBounded(ctx context.Context, partnerID id.ID, q FeedQuestion) (FeedPage, error) {
	ctx, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	return s.read(ctx, partnerID, q)
}

func (s *Service) read(ctx context.Context, partnerID id.ID, q FeedQuestion) (FeedPage, error) {
	state, err := s.deps.Feeds.Feed(ctx, partnerID)
	if err != nil {
		return FeedPage{}, err
	}
	after := state.Oldest - 1
	if q.After != nil {
		after = *q.After
	}
	if err := keeps(state, after); err != nil {
		return FeedPage{}, err
	}
	page := FeedPage{Next: after, FeedID: feedID(partnerID, state.Epoch)}
	if after == state.Last {
		return page, nil
	}
	events, err := s.deps.Feeds.FeedEvents(ctx, partnerID, after, q.Limit)
	if err != nil {
		return FeedPage{}, err
	}
	next, whole := follows(events, after)
	if !whole {
		return s.missing(ctx, partnerID, q, after)
	}
	page.Next = next
	page.Events = slices.DeleteFunc(events, func(e ports.Event) bool { return e.Data == nil }) // the follower passes
	if len(page.Events) == 0 {
		q.After = &next
		return s.read(ctx, partnerID, q)
	}
	return page, nil
}

// follows gives the number of the last event. whole is true if the events follow the number without a gap.
func follows(events []ports.Event, after int64) (last int64, whole bool) {
	for _, e := range events {
		if after++; e.Sequence != after {
			return 0, false
		}
	}
	return after, len(events) > 0
}

// keeps returns invalid_cursor unless every event after the number is kept.
func keeps(state webhookports.FeedState, after int64) error {
	switch {
	case after < state.Oldest-1:
		return fault.ErrBadCursor.WithMessage("after: the oldest event that is kept has the number %d.", state.Oldest)
	case after > state.Last:
		return fault.ErrBadCursor.WithMessage("after: the last number that was given is %d.", state.Last)
	}
	return nil
}

// missing answers when events are missing among those that were read. Retention may have dropped them meanwhile. Any
// other gap is an error: the feed never skips a number.
func (s *Service) missing(ctx context.Context, partnerID id.ID, q FeedQuestion, after int64) (FeedPage, error) {
	state, err := s.deps.Feeds.Feed(ctx, partnerID)
	if err != nil {
		return FeedPage{}, err
	}
	switch dropped := keeps(state, after); {
	case dropped != nil && q.After == nil:
		return s.read(ctx, partnerID, q) // from the number that is now the oldest
	case dropped != nil:
		return FeedPage{}, dropped
	}
	return FeedPage{}, fault.ErrInternal.Because(&gap{after})
}

// gap says that events are missing that the feed should have.
type gap struct{ after int64 }

func (g *gap) Error() string {
	return "events: the feed misses an event soon after number " + strconv.FormatInt(g.after, 10)
}

// feedID gives the feedId of a partner's feed. A restore changes the epoch and so the feedId, since events are numbered
// anew.
func feedID(partnerID, epoch id.ID) string {
	sum := sha256.Sum256(append(append([]byte("feed"), partnerID[:]...), epoch[:]...))
	var short id.ID
	copy(short[:], sum[:])
	return "feed_" + short.Encode()
}
