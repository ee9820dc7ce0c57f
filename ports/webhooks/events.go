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

// FeedState is the state of a partner's feed of events.
type FeedState struct {
	Epoch  id.ID // The restore epoch of the feed: numbers of different epochs cannot be compared.
	Oldest int64 // The number of the oldest event that the feed still returns.
	Last   int64 // The last number that an event got; Oldest - 1 if there is no event.
}

// Events reads the events that the relay has filed. It leaves their CommittedAt empty.
type Events interface {
	// Events lists the events of a partner in the order of their ids, newest first.
	Events(ctx context.Context, partnerID id.ID, f EventFilter, page ports.Page) (ports.List[ports.Event], error)
	// Event returns an event of a partner, or webhook.ErrEventNotFound.
	Event(ctx context.Context, partnerID, eventID id.ID) (ports.Event, error)
	// Feed returns the state of a partner's feed.
	Feed(ctx context.Context, partnerID id.ID) (FeedState, error)
	// FeedEvents returns up to limit events whose numbers follow after, oldest first. The caller checks that no
	// number is missing: retention may remove events at any time. An event that cannot be read has no Data.
	FeedEvents(ctx context.Context, partnerID id.ID, after int64, limit int) ([]ports.Event, error)
	// LastNumbers returns the last number in the feed of each of the partners.
	LastNumbers(ctx context.Context, partnerIDs []id.ID) (map[id.ID]int64, error)
	// FindEvent returns an event, whether it is on the outbox, set aside, or filed, or webhook.ErrEventNotFound.
	FindEvent(ctx context.Context, eventID id.ID) (EventView, error)
}
