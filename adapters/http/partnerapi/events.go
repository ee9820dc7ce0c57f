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

// ListEvents lists the events of the caller.
func (a *api) ListEvents(ctx context.Context, r ListEventsRequestObject) (ListEventsResponseObject, error) {
	page, err := eventList.page(r.Params.Limit, r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	f := webhookports.EventFilter{Name: webhook.EventName(value(r.Params.Event)),
		Created: timeSpan(r.Params.From, r.Params.To)}
	if r.Params.DepositID != nil {
		f.DepositID = parseID(id.Deposit, *r.Params.DepositID)
	}
	req := requestOf(ctx)
	found, err := a.Events.List(ctx, req.caller.Partner.ID, f, page)
	if err != nil {
		return nil, err
	}
	body := EventList{Data: make([]Event, 0, len(found.Items))}
	for _, e := range found.Items {
		body.Data = append(body.Data, eventOf(e))
	}
	var out ListEvents200JSONResponse
	body.Pagination, out.Headers.Link = a.nextPage(eventList, found.Next, req)
	out.Body = body
	return out, nil
}

// GetEvent returns an event.
func (a *api) GetEvent(ctx context.Context, r GetEventRequestObject) (GetEventResponseObject, error) {
	found, err := a.Events.Get(ctx, requestOf(ctx).caller.Partner.ID, parseID(id.Event, r.EventID))
	if err != nil {
		return nil, err
	}
	return GetEvent200JSONResponse{Data: eventOf(found)}, nil
}

// ReadFeed returns the events after a number, and waits for one if asked to.
func (a *api) ReadFeed(ctx context.Context, r ReadFeedRequestObject) (ReadFeedResponseObject, error) {
	q := events.FeedQuestion{After: r.Params.After, Limit: defaultLimit,
		Wait: time.Duration(value(r.Params.WaitSeconds)) * time.Second}
	if r.Params.Limit != nil {
		q.Limit = *r.Params.Limit
	}
	page, err := a.Events.Feed(ctx, requestOf(ctx).caller.Partner.ID, q)
	if err != nil {
		return nil, err
	}
	body := Feed{Data: make([]FeedEvent, 0, len(page.Events)), NextAfter: page.Next, FeedID: page.FeedID}
	for _, e := range page.Events {
		one := eventOf(e)
		body.Data = append(body.Data,
			FeedEvent{Sequence: e.Sequence, ID: one.ID, Event: one.Event, CreatedAt: one.CreatedAt, Data: one.Data})
	}
	return ReadFeed200JSONResponse(body), nil
}

func eventOf(e ports.Event) Event {
	return Event{ID: id.Event.Of(e.ID), Event: EventName(e.Name), CreatedAt: TimestampOf(e.CreatedAt),
		Data: json.RawMessage(e.Data)}
}
