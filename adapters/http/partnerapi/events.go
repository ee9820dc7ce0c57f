package partnerapi

import (
	"context"
	"encoding/json"
	"time"

	"partnerdeposits/app/webhooks/events"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

func (a *api) ListEvents(ctx context.Context, r ListEventsRequestObject) (ListEventsResponseObject, error) {
	f := webhookports.EventFilter{Name: webhook.EventName(value(r.Params.Event)),
		Created: timeSpan(r.Params.From, r.Params.To)}
	if r.Params.DepositID != nil {
		f.DepositID = parseID(id.Deposit, *r.Params.DepositID)
	}
	return answerList(ctx, a, eventList, r.Params.Limit, r.Params.Cursor,
		func(page ports.Page) (ports.ListPage[ports.Event], error) {
			return a.Events.List(ctx, requestOf(ctx).caller.Partner.ID, f, page)
		}, eventOf, func(e ports.Event) ports.Cursor { return ports.Cursor{At: e.CreatedAt, ID: e.ID} })
}

func (a *api) GetEvent(ctx context.Context, r GetEventRequestObject) (GetEventResponseObject, error) {
	found, err := a.Events.Get(ctx, requestOf(ctx).caller.Partner.ID, parseID(id.Event, r.EventID))
	if err != nil {
		return nil, err
	}
	return GetEvent200JSONResponse{Data: eventOf(found)}, nil
}

// ReadFeed answers with the events of the partner's feed after a number, or waits for one as long as the request
// allows.
func (a *api) ReadFeed(ctx context.Context, r ReadFeedRequestObject) (ReadFeedResponseObject, error) {
	q := events.FeedRequest{After: r.Params.After, Wait: time.Duration(value(r.Params.WaitSeconds)) * time.Second}
	limit := defaultLimit
	if r.Params.Limit != nil {
		limit = *r.Params.Limit
	}
	partnerID := requestOf(ctx).caller.Partner.ID
	var tail struct {
		NextAfter int64  `json:"nextAfter"`
		FeedID    string `json:"feedId"`
	}
	f := filling[ports.Event, FeedEvent]{sizes: &a.sizes, key: sizeKey{partnerID, feed}, view: feedEventOf}
	f.read = func(most int) ([]ports.Event, bool, error) {
		asked := q
		asked.Limit = most
		page, err := a.Events.ReadFeed(ctx, partnerID, asked)
		if q.Wait = 0; tail.FeedID != "" && (err != nil || page.FeedID != tail.FeedID) {
			// The feed began anew or a later read failed: send the events read so far; the next request meets the change or
			// error.
			return nil, false, nil
		}
		q.After, tail.NextAfter, tail.FeedID = &page.Next, page.Next, page.FeedID
		return page.Events, len(page.Events) == most, err
	}
	body, err := f.encode(limit, func() any {
		if f.cut {
			tail.NextAfter = f.last.Sequence
		}
		return tail
	})
	return &listResponse{body: body}, err
}

func feedEventOf(e ports.Event) FeedEvent {
	one := eventOf(e)
	return FeedEvent{Sequence: e.Sequence, ID: one.ID, Event: one.Event, CreatedAt: one.CreatedAt, Data: one.Data}
}

func eventOf(e ports.Event) Event {
	return Event{ID: id.Event.Of(e.ID), Event: EventName(e.Name), CreatedAt: TimestampOf(e.CreatedAt),
		Data: json.RawMessage(e.Data)}
}
