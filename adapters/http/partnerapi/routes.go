package partnerapi

import (
	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/middleware/jsonbody"
	"partnerdeposits/core/partner"
)

// route is one line of the table. A keyed route takes an Idempotency-Key.
type route struct {
	method string
	path   string
	keyed  bool
	handle fiber.Handler
}

// routes is the whole API, to be read aloud. docs/guides/adding-a-route.md tells how a line is added.
func (a *api) routes() []route {
	const (
		get, post, patch, del = fiber.MethodGet, fiber.MethodPost, fiber.MethodPatch, fiber.MethodDelete
		keyed, plain          = true, false
	)
	h := ServerInterfaceWrapper{Handler: NewStrictHandler(a, nil)}
	table := []route{
		{get, Prefix + "/me", plain, h.GetMe},

		{get, Prefix + "/accounts", plain, h.ListAccounts},
		{get, Prefix + "/accounts/:accountId", plain, h.GetAccount},

		{post, Prefix + "/webhooks", keyed, h.CreateWebhook},
		{get, Prefix + "/webhooks", plain, h.ListWebhooks},
		{get, Prefix + "/webhooks/:webhookId", plain, h.GetWebhook},
		{patch, Prefix + "/webhooks/:webhookId", plain, h.UpdateWebhook},
		{del, Prefix + "/webhooks/:webhookId", plain, h.DeleteWebhook},
		{post, Prefix + "/webhooks/:webhookId/rotate-secret", plain, h.RotateWebhookSecret},
		{post, Prefix + "/webhooks/:webhookId/test", plain, h.TestWebhook},
		{get, Prefix + "/webhooks/:webhookId/deliveries", plain, h.ListWebhookDeliveries},
		{get, Prefix + "/webhooks/:webhookId/deliveries/:deliveryId", plain, h.GetWebhookDelivery},
		{post, Prefix + "/webhooks/:webhookId/deliveries/:deliveryId/redeliver", plain, h.RedeliverWebhookDelivery},
		{post, Prefix + "/webhooks/:webhookId/replay", plain, h.ReplayWebhookDeliveries},

		{post, Prefix + "/clients", keyed, h.CreateClient},
		{get, Prefix + "/clients/:clientId", plain, h.GetClient},

		{post, Prefix + "/deposits", keyed, h.CreateDeposit},
		{get, Prefix + "/deposits", plain, h.ListDeposits},
		{get, Prefix + "/deposits/:depositId", plain, h.GetDeposit},
		{post, Prefix + "/deposits/:depositId/cancel", keyed, h.CancelDeposit},
		{post, Prefix + "/deposits/:depositId/capture", keyed, h.CaptureDeposit},
	}
	if a.Environment != partner.Production {
		table = append(table, route{post, Prefix + "/test/deposits/:depositId/simulate", plain, h.SimulateDeposit})
	}
	return table
}

// chain is the order of checks of api.md §1, behind key and rate limit: JSON, idempotency, field shapes. What follows
// (link, ceiling, dates, client) is up to the use case.
func (a *api) chain(r route) []fiber.Handler {
	handlers := []fiber.Handler{jsonbody.Read}
	if r.keyed {
		handlers = append(handlers, a.idempotencyKey)
	}
	return append(handlers, a.validator.Check(r.method, r.path), r.handle)
}
