// Package events holds the use cases about the events of a partner: the list, and the feed, the numbered list
// that the partner reads on from the last number that it has seen (api.md §5, "The feed").
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

// MaxFeedWait is the longest time for which a request for new events of a partner waits for one before it is
// answered.
const MaxFeedWait = 25 * time.Second

const leastWait = time.Second

// readWithin bounds each read of the database by a request that waits for events, because the deadline of
// requests does not apply to it.
const readWithin = 8 * time.Second

type Deps struct {
	Events  webhookports.EventStore
	Feeds   webhookports.EventStore
	Waiting *WaitingRequests
	After   func(time.Duration) <-chan time.Time
}

type Service struct{ deps Deps }

func New(deps Deps) *Service { return &Service{deps: deps} }

func (s *Service) List(ctx context.Context, partnerID id.ID, f webhookports.EventFilter,
	page ports.Page) (ports.ListPage[ports.Event], error) {
	return s.deps.Events.Events(ctx, partnerID, f, page)
}

// Get returns an event of a partner, or webhook.ErrEventNotFound.
func (s *Service) Get(ctx context.Context, partnerID, eventID id.ID) (ports.Event, error) {
	return s.deps.Events.Event(ctx, partnerID, eventID)
}

type FeedRequest struct {
	After *int64 // The number after which the requested events begin; nil: from the oldest event that is kept.
	Limit int
	Wait  time.Duration
}

// FeedPage is a part of a partner's feed (its numbered list of events), oldest event first.
type FeedPage struct {
	Events []ports.Event
	Next   int64
	// The id of the partner's numbered list of events, which changes when the database was restored from a backup.
	FeedID string
}

// ReadFeed returns a partner's events after a number, and waits for an event if there is none. Returns
// invalid_cursor for a number that no event has reached yet, or after which events were removed.
func (s *Service) ReadFeed(ctx context.Context, partnerID id.ID, q FeedRequest) (FeedPage, error) {
	if q.Wait <= 0 {
		return s.read(ctx, partnerID, q)
	}
	// The usual deadline of requests would end the wait for events. Each read of the database has its own bound.
	ctx = context.WithoutCancel(ctx)
	// Join the waiting requests before the first read, so that no wake-up notification is missed after it.
	place, ok := s.deps.Waiting.enter(partnerID)
	if !ok {
		return s.readBounded(ctx, partnerID, q)
	}
	defer place.leave()
	over, least := s.deps.After(min(q.Wait, MaxFeedWait)), s.deps.After(leastWait)
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

func (s *Service) readBounded(ctx context.Context, partnerID id.ID, q FeedRequest) (FeedPage, error) {
	ctx, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	return s.read(ctx, partnerID, q)
}

func (s *Service) read(ctx context.Context, partnerID id.ID, q FeedRequest) (FeedPage, error) {
	state, err := s.deps.Feeds.FeedState(ctx, partnerID)
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
	page.Events = slices.DeleteFunc(events, func(e ports.Event) bool { return e.Data == nil })
	if len(page.Events) == 0 {
		q.After = &next
		return s.read(ctx, partnerID, q)
	}
	return page, nil
}

// follows returns the number of the last event. whole reports whether the events follow the number after without a
// gap.
func follows(events []ports.Event, after int64) (last int64, whole bool) {
	for _, e := range events {
		if after++; e.Sequence != after {
			return 0, false
		}
	}
	return after, len(events) > 0
}

// keeps returns invalid_cursor unless every event after the number is still kept.
func keeps(state webhookports.FeedState, after int64) error {
	switch {
	case after < state.Oldest-1:
		return fault.ErrBadCursor.WithMessage("after: the oldest event that is kept has the number %d.", state.Oldest)
	case after > state.Last:
		return fault.ErrBadCursor.WithMessage("after: the last number that was given is %d.", state.Last)
	}
	return nil
}

// missing handles a read of a partner's numbered events in which some are missing: an error unless retention has
// dropped them meanwhile.
func (s *Service) missing(ctx context.Context, partnerID id.ID, q FeedRequest, after int64) (FeedPage, error) {
	state, err := s.deps.Feeds.FeedState(ctx, partnerID)
	if err != nil {
		return FeedPage{}, err
	}
	switch dropped := keeps(state, after); {
	case dropped != nil && q.After == nil:
		// The oldest events were removed meanwhile: read again from the oldest that is kept.
		return s.read(ctx, partnerID, q)
	case dropped != nil:
		return FeedPage{}, dropped
	}
	return FeedPage{}, fault.ErrInternal.WithCause(&feedGapError{after})
}

// feedGapError is the error of a partner's numbered events of which one is missing.
type feedGapError struct{ after int64 }

func (g *feedGapError) Error() string {
	return "events: the feed misses an event soon after number " + strconv.FormatInt(g.after, 10)
}

// feedID returns the id that the API gives a partner's numbered list of events (feedId). A restore of the
// database changes it, since events are numbered anew.
func feedID(partnerID, epoch id.ID) string {
	sum := sha256.Sum256(append(append([]byte("feed"), partnerID[:]...), epoch[:]...))
	var short id.ID
	copy(short[:], sum[:])
	return "feed_" + short.Encode()
}
