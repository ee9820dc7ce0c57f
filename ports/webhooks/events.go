package webhooks

import (
	"context"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
)

// EventFilter narrows the list of events. A zero field does not narrow the list.
type EventFilter struct {
	Name      webhook.EventName
	DepositID id.ID
	Created   ports.Span
}

// FeedState is the state of a partner's feed.
type FeedState struct {
	Epoch  id.ID // the restore epoch: numbers of different epochs cannot be compared
	Oldest int64 // the oldest number that is served
	Last   int64 // the last number that was given; Oldest - 1 if there is no event
}

// Events reads the events that the relay has filed. CommittedAt is not read.
type Events interface {
	// Events lists the events of a partner in the order of their ids, newest first.
	Events(ctx context.Context, partnerID id.ID, f EventFilter, page ports.Page) (ports.List[ports.Event], error)
	// Event returns webhook.ErrEventNotFound.
	Event(ctx context.Context, partnerID, eventID id.ID) (ports.Event, error)
	// Feed gives the state of a partner's feed.
	Feed(ctx context.Context, partnerID id.ID) (FeedState, error)
	// FeedEvents gives up to limit events with the numbers after, oldest first. The caller checks that no number is
	// missing: retention may remove events at any time. An event that cannot be read has no Data.
	FeedEvents(ctx context.Context, partnerID id.ID, after int64, limit int) ([]ports.Event, error)
	// LastNumbers gives the last number of each of the partners.
	LastNumbers(ctx context.Context, partnerIDs []id.ID) (map[id.ID]int64, error)
	// FindEvent finds an event on the outbox, among those set aside, or filed. Returns webhook.ErrEventNotFound.
	FindEvent(ctx context.Context, eventID id.ID) (EventView, error)
}
