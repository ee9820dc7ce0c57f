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
	Created   ports.TimeSpan
}

// FeedState is the state of a partner's feed, the numbered list of its events.
type FeedState struct {
	// The id that the feed has since the last restore of the database: numbers from before a restore cannot be
	// compared with numbers after it.
	Epoch  id.ID
	Oldest int64
	Last   int64
}

// EventStore reads events that have their number in a partner's feed. It leaves their CommittedAt empty.
type EventStore interface {
	Events(ctx context.Context, partnerID id.ID, f EventFilter, page ports.Page) (ports.ListPage[ports.Event], error)
	// Event returns an event of a partner, or webhook.ErrEventNotFound.
	Event(ctx context.Context, partnerID, eventID id.ID) (ports.Event, error)
	FeedState(ctx context.Context, partnerID id.ID) (FeedState, error)
	// FeedEvents returns up to limit events of a partner's feed of events whose numbers follow after, oldest first.
	// An event that cannot be read has no Data.
	FeedEvents(ctx context.Context, partnerID id.ID, after int64, limit int) ([]ports.Event, error)
	LastFeedNumbers(ctx context.Context, partnerIDs []id.ID) (map[id.ID]int64, error)
	// FindEvent returns an event, whether it waits in the outbox, was set aside as refused, or has its deliveries;
	// or webhook.ErrEventNotFound.
	FindEvent(ctx context.Context, eventID id.ID) (EventView, error)
}
