package partnerapi

import (
	"context"

	"partnerdeposits/app/webhooks"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
)

// ExplainWebhook answers with the reason why a webhook delivery's signature does not verify.
func (a *api) ExplainWebhook(ctx context.Context, r ExplainWebhookRequestObject) (ExplainWebhookResponseObject, error) {
	req := requestOf(ctx)
	question := webhooks.SignatureExplanationRequest{Headers: r.Body.Headers, Body: r.Body.Body,
		Computed: value(r.Body.Computed),
		APIKey:   req.apiKey}
	e, err := a.Webhooks.ExplainSignatureFailure(ctx, req.caller, parseID(id.Subscription, r.WebhookID), question)
	if err != nil {
		return nil, err
	}
	return ExplainWebhook200JSONResponse{Data: WebhookExplanation{
		Valid: e.Cause == webhook.CauseValid, Cause: string(e.Cause), Message: e.Words,
		DeliveryID: id.Delivery.FormatOrNil(e.DeliveryID),
	}}, nil
}

// ExplainConnectURL answers with the reason why a connect URL is refused.
func (a *api) ExplainConnectURL(ctx context.Context,
	r ExplainConnectURLRequestObject) (ExplainConnectURLResponseObject, error) {
	req := requestOf(ctx)
	e, err := a.Connections.ExplainURLRefusal(ctx, req.caller.Partner, r.Body.URL, req.apiKey)
	if err != nil {
		return nil, err
	}
	return ExplainConnectURL200JSONResponse{Data: ConnectExplanation{
		Valid: e.Cause == connect.CauseValid, Cause: string(e.Cause), Message: e.Words,
	}}, nil
}
