package partnerapi

import (
	"cmp"
	"context"
	"strings"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/middleware/jsonbody"
	"partnerdeposits/app/accounts/connections"
	"partnerdeposits/app/deposits"
	"partnerdeposits/app/partners"
	"partnerdeposits/app/partners/clients"
	"partnerdeposits/app/payments"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/app/webhooks"
	"partnerdeposits/app/webhooks/events"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	ports "partnerdeposits/ports/platform"
)

// Prefix begins every path of this API. Its last part is the version.
const Prefix = "/api/partner/v1"

// Deps are the dependencies of the API.
type Deps struct {
	Partners    *partners.Service
	Connections *connections.Service
	Clients     *clients.Service
	Deposits    *deposits.Service
	Webhooks    *webhooks.Service
	Events      *events.Service
	Simulate    Simulator // unused in production, which has no route for it
	Idempotent  *idempotent.Executor
	Limiter     ports.Limiter
	Clock       ports.Clock

	Environment partner.Environment
	// BaseURL is API_BASE_URL. Links to further pages begin with it.
	BaseURL string
	// Deprecations replaces the table of the same name, for tests; nil: the table.
	Deprecations []Deprecation
	// ExplanationsPerMinute replaces the constant of the same name, for tests; 0: the constant.
	ExplanationsPerMinute int
	// AnswersOfAll replaces the constant of the same name, for tests; 0: the constant.
	AnswersOfAll int
	// OnRateLimited counts refused requests; nil counts nothing.
	OnRateLimited func()
}

// Simulator performs on a deposit the action that a tenant would take at checkout.
type Simulator interface {
	Simulate(ctx context.Context, partnerID, depositID id.ID, outcome payments.Simulation) (*deposit.Deposit, error)
}

// api implements the operations of openapi.yaml. Each method stands in the file of its resource.
type api struct {
	Deps
	validator *Validator
	room      *room
	sizes     sizes
}

var _ StrictServerInterface = (*api)(nil)

// Mount adds the API to router. The router already runs the middleware of adapters/http/server.go.
func Mount(router fiber.Router, d Deps) error {
	doc, err := Document()
	if err != nil {
		return err
	}
	validator, err := NewValidator(doc)
	if err != nil {
		return err
	}
	if d.OnRateLimited == nil {
		d.OnRateLimited = func() {}
	}
	if d.Deprecations == nil {
		d.Deprecations = Deprecations
	}
	d.ExplanationsPerMinute = cmp.Or(d.ExplanationsPerMinute, partners.ExplanationsPerMinute)
	d.BaseURL = strings.TrimRight(d.BaseURL, "/")
	a := &api{Deps: d, validator: validator, room: newRoom(cmp.Or(d.AnswersOfAll, answersOfAll))}
	for _, r := range a.routes() {
		chain := a.chain(r)
		if announce := a.deprecated(r); announce != nil {
			chain = append([]fiber.Handler{announce}, chain...) // first, so that refusals carry the notice, too
		}
		if r.method == fiber.MethodGet {
			router.Add(fiber.MethodHead, r.path, chain...)
		}
		router.Add(r.method, r.path, chain...)
	}
	router.Use(Prefix, a.authenticate, a.limitRate) // for paths without a route
	return nil
}

// chain returns the handlers of a route, in the order of checks that the contract fixes (api.md §1, "Codes"). The use
// case makes the remaining checks: link, ceiling, dates, client. Every check belongs to the route, so that metrics and
// log name the route of a refused request.
func (a *api) chain(r route) []fiber.Handler {
	check := a.validator.Check(r.method, r.path)
	switch r.kind {
	case keyed:
		return []fiber.Handler{a.authenticate, readIdempotencyKey, a.limitRate, jsonbody.Read, a.checkIdempotencyKey, check,
			r.handle}
	case explaining:
		return []fiber.Handler{a.authenticate, a.countExplanation, a.limitRate, jsonbody.Read, check, r.handle}
	case sendingTest:
		return []fiber.Handler{a.authenticate, countAlso(partners.TestRule), a.limitRate, jsonbody.Read, check, r.handle}
	case redelivering:
		return []fiber.Handler{a.authenticate, countAlso(partners.RedeliveryRule), a.limitRate, jsonbody.Read, check,
			r.handle}
	}
	chain := []fiber.Handler{a.authenticate, a.limitRate}
	if reads(r.method) {
		chain = append(chain, a.send)
	}
	switch r.kind {
	case listing:
		chain = append(chain, a.readsAnswers, a.takeTurn)
	case following:
		chain = append(chain, a.readsAnswers)
	}
	return append(chain, jsonbody.Read, check, r.handle)
}

// route is a line of the route table.
type route struct {
	method string
	path   string
	kind   kind
	handle fiber.Handler
}

// kind says which checks a route has beside those that all have.
type kind int

const (
	plain        kind = iota
	keyed             // accepts an Idempotency-Key
	explaining        // explains a signature, and has a limit of its own
	sendingTest       // sends a test, which has a limit of its own
	redelivering      // sends a delivery again, which has a limit of its own
	listing           // answers with a page of a list
	following         // answers with a page of the feed, perhaps after a wait
)

// routes lists every route of the API. docs/guides/adding.md explains how to add a line.
func (a *api) routes() []route {
	const get, post, patch, del = fiber.MethodGet, fiber.MethodPost, fiber.MethodPatch, fiber.MethodDelete
	h := ServerInterfaceWrapper{Handler: NewStrictHandler(a, nil)}
	table := []route{
		{get, Prefix + "/me", plain, h.GetMe},

		{post, Prefix + "/api-keys", plain, h.CreateAPIKey},
		{get, Prefix + "/api-keys", listing, h.ListAPIKeys},
		{del, Prefix + "/api-keys/:keyId", plain, h.DeleteAPIKey},

		{get, Prefix + "/accounts", listing, h.ListAccounts},
		{get, Prefix + "/accounts/:accountId", plain, h.GetAccount},
		{del, Prefix + "/accounts/:accountId", plain, h.DeleteAccount},

		{post, Prefix + "/connect/explain", explaining, h.ExplainConnectURL},

		{post, Prefix + "/webhooks", keyed, h.CreateWebhook},
		{get, Prefix + "/webhooks", listing, h.ListWebhooks},
		{get, Prefix + "/webhooks/:webhookId", plain, h.GetWebhook},
		{patch, Prefix + "/webhooks/:webhookId", plain, h.UpdateWebhook},
		{del, Prefix + "/webhooks/:webhookId", plain, h.DeleteWebhook},
		{post, Prefix + "/webhooks/:webhookId/rotate-secret", plain, h.RotateWebhookSecret},
		{post, Prefix + "/webhooks/:webhookId/test", sendingTest, h.TestWebhook},
		{post, Prefix + "/webhooks/:webhookId/explain", explaining, h.ExplainWebhook},
		{get, Prefix + "/webhooks/:webhookId/deliveries", listing, h.ListWebhookDeliveries},
		{get, Prefix + "/webhooks/:webhookId/deliveries/:deliveryId", plain, h.GetWebhookDelivery},
		{post, Prefix + "/webhooks/:webhookId/deliveries/:deliveryId/redeliver", redelivering, h.RedeliverWebhookDelivery},
		{post, Prefix + "/webhooks/:webhookId/replay", plain, h.ReplayWebhookDeliveries},

		{get, Prefix + "/events", listing, h.ListEvents},
		{get, Prefix + "/events/feed", following, h.ReadFeed},
		{get, Prefix + "/events/:eventId", plain, h.GetEvent},

		{post, Prefix + "/clients", keyed, h.CreateClient},
		{get, Prefix + "/clients", listing, h.ListClients},
		{get, Prefix + "/clients/:clientId", plain, h.GetClient},
		{patch, Prefix + "/clients/:clientId", keyed, h.UpdateClient},
		{del, Prefix + "/clients/:clientId", plain, h.DeleteClient},

		{post, Prefix + "/deposits", keyed, h.CreateDeposit},
		{get, Prefix + "/deposits", listing, h.ListDeposits},
		{get, Prefix + "/deposits/:depositId", plain, h.GetDeposit},
		{post, Prefix + "/deposits/:depositId/cancel", keyed, h.CancelDeposit},
		{post, Prefix + "/deposits/:depositId/release", keyed, h.ReleaseDeposit},
		{post, Prefix + "/deposits/:depositId/capture", keyed, h.CaptureDeposit},
		{post, Prefix + "/deposits/:depositId/send-link", keyed, h.SendDepositLink},
		{post, Prefix + "/deposits/:depositId/send-link/batch", keyed, h.SendDepositLinkBatch},
	}
	if a.Environment != partner.Production {
		table = append(table, route{post, Prefix + "/test/deposits/:depositId/simulate", plain, h.SimulateDeposit})
	}
	return table
}
