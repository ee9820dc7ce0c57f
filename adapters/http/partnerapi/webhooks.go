package partnerapi

import (
	"context"
	"net/http"

	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/app/webhooks"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
)

func (a *api) CreateWebhook(ctx context.Context, r CreateWebhookRequestObject) (CreateWebhookResponseObject, error) {
	in := webhooks.NewSubscription{URL: r.Body.URL, Events: texts(r.Body.Events), Signatures: texts(r.Body.Signatures)}
	response, err := a.Webhooks.Create(ctx, requestOf(ctx).caller, in,
		keyedCall(ctx, func(w webhooks.SubscriptionWithSecret) (idempotent.Response, error) {
			return encodeResponse(http.StatusCreated, CreatedWebhookResponse{Data: CreatedWebhook{
				ID: id.Subscription.Of(w.ID), URL: w.URL, Events: eventsOf(w.Events), Enabled: w.Enabled,
				Signatures: signaturesOf(w.Subscription),
				CreatedAt:  TimestampOf(w.CreatedAt), Health: healthOf(webhook.NewEndpointReport(w.Subscription)),
				Secret: w.Secret.Reveal(),
			}})
		}))
	return encodedResponse(response), err
}

func (a *api) ListWebhooks(ctx context.Context, r ListWebhooksRequestObject) (ListWebhooksResponseObject, error) {
	return answerList(ctx, a, webhookList, r.Params.Limit, r.Params.Cursor,
		func(page ports.Page) (ports.ListPage[webhook.SubscriptionWithReport], error) {
			return a.Webhooks.List(ctx, requestOf(ctx).caller.Partner.ID, page)
		}, webhookOf, func(s webhook.SubscriptionWithReport) ports.Cursor { return ports.Cursor{At: s.CreatedAt, ID: s.ID} })
}

func (a *api) GetWebhook(ctx context.Context, r GetWebhookRequestObject) (GetWebhookResponseObject, error) {
	found, err := a.Webhooks.Get(ctx, requestOf(ctx).caller.Partner.ID, parseID(id.Subscription, r.WebhookID))
	if err != nil {
		return nil, err
	}
	return GetWebhook200JSONResponse{Data: webhookOf(found)}, nil
}

// UpdateWebhook changes the fields of a webhook subscription that the request contains.
func (a *api) UpdateWebhook(ctx context.Context, r UpdateWebhookRequestObject) (UpdateWebhookResponseObject, error) {
	want := webhooks.SubscriptionChanges{URL: r.Body.URL, Events: texts(r.Body.Events),
		Signatures: texts(r.Body.Signatures),
		Enabled:    r.Body.Enabled}
	changed, err := a.Webhooks.Update(ctx, requestOf(ctx).caller, parseID(id.Subscription, r.WebhookID), want)
	if err != nil {
		return nil, err
	}
	return UpdateWebhook200JSONResponse{Data: webhookOf(changed)}, nil
}

func (a *api) DeleteWebhook(ctx context.Context, r DeleteWebhookRequestObject) (DeleteWebhookResponseObject, error) {
	if err := a.Webhooks.Delete(ctx, requestOf(ctx).caller, parseID(id.Subscription, r.WebhookID)); err != nil {
		return nil, err
	}
	return DeleteWebhook204Response{}, nil
}

// RotateWebhookSecret replaces a webhook's signing secret and answers with the new one.
func (a *api) RotateWebhookSecret(ctx context.Context,
	r RotateWebhookSecretRequestObject) (RotateWebhookSecretResponseObject, error) {
	rotated, err := a.Webhooks.RotateSecret(ctx, requestOf(ctx).caller, parseID(id.Subscription, r.WebhookID))
	if err != nil {
		return nil, err
	}
	return RotateWebhookSecret200JSONResponse{Data: RotatedSecret{
		ID: id.Subscription.Of(rotated.ID), URL: rotated.URL, Events: eventsOf(rotated.Events),
		Secret: rotated.Secret.Reveal(),
	}}, nil
}

// TestWebhook sends a test delivery to a webhook's URL and answers with its result.
func (a *api) TestWebhook(ctx context.Context, r TestWebhookRequestObject) (TestWebhookResponseObject, error) {
	sent, err := a.Webhooks.SendTestDelivery(ctx, requestOf(ctx).caller, parseID(id.Subscription, r.WebhookID))
	if err != nil {
		return nil, err
	}
	return TestWebhook200JSONResponse{Data: deliveryOf(sent)}, nil
}

// texts converts typed strings to plain ones; nil stays nil, which means "not sent".
func texts[T ~string](names []T) []string {
	if names == nil {
		return nil
	}
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = string(n)
	}
	return out
}

func eventsOf(names []webhook.EventName) []EventName {
	out := make([]EventName, len(names))
	for i, n := range names {
		out[i] = EventName(n)
	}
	return out
}

func signaturesOf(s webhook.Subscription) []SignatureKind {
	kinds := s.SignatureKinds()
	out := make([]SignatureKind, len(kinds))
	for i, kind := range kinds {
		out[i] = SignatureKind(kind)
	}
	return out
}

func webhookOf(s webhook.SubscriptionWithReport) Webhook {
	return Webhook{
		ID: id.Subscription.Of(s.ID), URL: s.URL, Events: eventsOf(s.Events), Enabled: s.Enabled,
		Signatures:     signaturesOf(s.Subscription),
		DisabledReason: orNil(s.DisabledReason), CreatedAt: TimestampOf(s.CreatedAt), Health: healthOf(s.Health),
	}
}

func healthOf(r webhook.EndpointReport) EndpointHealth {
	return EndpointHealth{
		State: EndpointState(r.State), Since: TimestampOf(r.Since), LastSuccessAt: TimestampOrNil(r.LastSuccessAt),
		LastFailureAt: TimestampOrNil(r.LastFailureAt),
		LastError:     orNil(AttemptError(r.LastError)), Pending: r.Pending, PendingCapped: trueOrNil(r.PendingCapped),
		OldestPendingAt: TimestampOrNil(r.OldestPendingAt),
	}
}

func trueOrNil(b bool) *bool {
	if !b {
		return nil
	}
	return &b
}
