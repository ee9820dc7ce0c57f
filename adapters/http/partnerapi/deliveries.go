package partnerapi

import (
	"context"

	"partnerdeposits/app/webhooks"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

func (a *api) ListWebhookDeliveries(ctx context.Context,
	r ListWebhookDeliveriesRequestObject) (ListWebhookDeliveriesResponseObject, error) {
	f := webhookports.DeliveryFilter{
		Status: webhook.DeliveryStatus(value(r.Params.Status)), Event: webhook.EventName(value(r.Params.Event)),
		DepositID: deliveredDeposit(r.Params.DepositID), Created: timeSpan(r.Params.From, r.Params.To),
	}
	return answerList(ctx, a, deliveryList, r.Params.Limit, r.Params.Cursor,
		func(page ports.Page) (ports.ListPage[webhook.Delivery], error) {
			return a.Webhooks.ListDeliveries(ctx, requestOf(ctx).caller.Partner.ID,
				parseID(id.Subscription, r.WebhookID), f, page)
		}, deliveryOf, func(d webhook.Delivery) ports.Cursor { return ports.Cursor{At: d.CreatedAt, ID: d.ID} })
}

func (a *api) GetWebhookDelivery(ctx context.Context,
	r GetWebhookDeliveryRequestObject) (GetWebhookDeliveryResponseObject, error) {
	found, err := a.Webhooks.GetDelivery(ctx, requestOf(ctx).caller.Partner.ID, parseID(id.Subscription, r.WebhookID),
		parseID(id.Delivery, r.DeliveryID))
	if err != nil {
		return nil, err
	}
	d := deliveryOf(found)
	return GetWebhookDelivery200JSONResponse{Data: DeliveryDetail{
		ID: d.ID, WebhookID: d.WebhookID, EventID: d.EventID, Event: d.Event, DepositID: d.DepositID, Test: d.Test,
		Status:       d.Status,
		AttemptCount: d.AttemptCount, NextAttemptAt: d.NextAttemptAt, CreatedAt: d.CreatedAt, DeliveredAt: d.DeliveredAt,
		FailureReason: d.FailureReason, RedeliveryOf: d.RedeliveryOf, BodySha256: d.BodySha256, Attempts: d.Attempts,
		Body: string(found.Body),
	}}, nil
}

// RedeliverWebhookDelivery queues a new webhook delivery with an older one's bytes.
func (a *api) RedeliverWebhookDelivery(ctx context.Context,
	r RedeliverWebhookDeliveryRequestObject) (RedeliverWebhookDeliveryResponseObject, error) {
	made, err := a.Webhooks.Redeliver(ctx, requestOf(ctx).caller, parseID(id.Subscription, r.WebhookID),
		parseID(id.Delivery, r.DeliveryID))
	if err != nil {
		return nil, err
	}
	return RedeliverWebhookDelivery202JSONResponse{Data: deliveryOf(made)}, nil
}

// ReplayWebhookDeliveries queues new webhook deliveries for those of a time span.
func (a *api) ReplayWebhookDeliveries(ctx context.Context,
	r ReplayWebhookDeliveriesRequestObject) (ReplayWebhookDeliveriesResponseObject, error) {
	in := webhooks.NewReplay{From: r.Body.From.Time, To: r.Body.To.Time,
		Status: webhook.DeliveryStatus(value(r.Body.Status))}
	replay, err := a.Webhooks.StartReplay(ctx, requestOf(ctx).caller, parseID(id.Subscription, r.WebhookID), in)
	if err != nil {
		return nil, err
	}
	return ReplayWebhookDeliveries202JSONResponse{
		Data: Replay{ReplayID: id.Replay.Of(replay.ID), Matched: replay.Matched}}, nil
}

// depositPrefix returns the prefix of a delivery's deposit id; a test delivery has its own, since its deposit does
// not exist.
func depositPrefix(test bool) id.Prefix {
	if test {
		return webhooks.TestDepositIDPrefix
	}
	return id.Deposit
}

// deliveredDeposit parses the deposit id by which deliveries are filtered, also that of a test delivery.
func deliveredDeposit(s *string) id.ID {
	if s == nil {
		return id.ID{}
	}
	if parsed, ok := depositPrefix(true).Parse(*s); ok {
		return parsed
	}
	return parseID(id.Deposit, *s)
}

func deliveryOf(d webhook.Delivery) Delivery {
	out := Delivery{
		ID: id.Delivery.Of(d.ID), WebhookID: id.Subscription.Of(d.SubscriptionID), EventID: id.Event.Of(d.EventID),
		Event:     EventName(d.Event),
		DepositID: depositPrefix(d.Test).FormatOrNil(d.DepositID), Test: d.Test,
		Status:       DeliveryStatus(webhook.DeliveryStatusOf(d.State, d.Attempts)),
		AttemptCount: d.Attempts, CreatedAt: TimestampOf(d.CreatedAt), DeliveredAt: TimestampOrNil(d.DeliveredAt),
		FailureReason: orNil(FailureReason(d.FailureReason)), RedeliveryOf: id.Delivery.FormatOrNil(d.RedeliveryOf),
		BodySha256: d.BodySHA256, Attempts: make([]DeliveryAttempt, 0, len(d.AttemptLog)),
	}
	if d.State == webhook.DeliveryStateWaiting {
		// NextAttemptAt is set only for a waiting delivery: in other states DueAt is an internal time limit.
		out.NextAttemptAt = TimestampOrNil(d.DueAt)
	}
	for _, at := range d.AttemptLog {
		out.Attempts = append(out.Attempts, attemptOf(at))
	}
	return out
}

func attemptOf(at webhook.Attempt) DeliveryAttempt {
	out := DeliveryAttempt{
		Number: at.Number, StartedAt: TimestampOf(at.StartedAt), DurationMs: int(at.Duration.Milliseconds()),
		ResponseSnippet: orNil(at.Snippet),
	}
	if at.ResponseStatus != 0 {
		out.ResponseStatus = &at.ResponseStatus
	}
	if !at.OK() {
		out.Error = orNil(AttemptError(at.Result))
	}
	return out
}
