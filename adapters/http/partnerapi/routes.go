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

// PathPrefix begins every path of the partner API. Its last part is the version.
const PathPrefix = "/api/partner/v1"

type Deps struct {
	Partners    *partners.Service
	Connections *connections.Service
	Clients     *clients.Service
	Deposits    *deposits.Service
	Webhooks    *webhooks.Service
	Events      *events.Service
	// DepositSimulator lets partners in test environments act as a tenant; unused in production, which has no such
	// route.
	Simulate   DepositSimulator
	Idempotent *idempotent.Executor
	Limiter    ports.Limiter
	Clock      ports.Clock

	Environment partner.Environment
	// API_BASE_URL, with which links to the next page begin.
	BaseURL string
	// Deprecations replaces, in tests, the table of deprecated API routes; nil means the real table.
	Deprecations []Deprecation
	// ExplanationsPerMinute replaces, in tests, the rate limit for explanations of signatures; 0 means the limit of
	// production.
	ExplanationsPerMinute int
	// AnswersOfAll replaces, in tests, the limit in bytes of responses on their way to callers; 0 means the limit of
	// production.
	AnswersOfAll int
	// OnRateLimited is called for every request that a rate limit refuses, to count it in the metrics; nil means that
	// such requests are not counted.
	OnRateLimited func()
}

type DepositSimulator interface {
	Simulate(ctx context.Context, partnerID, depositID id.ID, outcome payments.SimulatedEvent) (*deposit.Deposit, error)
}

// api implements the operations of openapi.yaml, each in the file of its resource.
type api struct {
	Deps
	validator *Validator
	room      *room
	sizes     sizes
}

var _ StrictServerInterface = (*api)(nil)

// Mount registers the partner API's routes on router, which already runs the middleware of
// adapters/http/server.go.
func Mount(router fiber.Router, d Deps) error {
	doc, err := OpenAPIDocument()
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
	d.ExplanationsPerMinute = cmp.Or(d.ExplanationsPerMinute, partners.SignatureExplanationsPerMinute)
	d.BaseURL = strings.TrimRight(d.BaseURL, "/")
	a := &api{Deps: d, validator: validator, room: newRoom(cmp.Or(d.AnswersOfAll, answersOfAll))}
	for _, r := range a.routes() {
		chain := a.chain(r)
		if announce := a.deprecated(r); announce != nil {
			// The announcement of a deprecation runs first, so that error responses carry it too.
			chain = append([]fiber.Handler{announce}, chain...)
		}
		if r.method == fiber.MethodGet {
			router.Add(fiber.MethodHead, r.path, chain...)
		}
		router.Add(r.method, r.path, chain...)
	}
	// A path without a route is authenticated and rate-limited before it is "not found".
	router.Use(PathPrefix, a.authenticate, a.limitRate)
	return nil
}

// chain returns a route's handlers in the contract's order of checks (api.md §1, "Codes"); the use case makes the
// remaining ones. Every check belongs to the route, so that metrics and log name the route of a refused request.
func (a *api) chain(r route) []fiber.Handler {
	check := a.validator.HandlerFor(r.method, r.path)
	switch r.kind {
	case keyed:
		return []fiber.Handler{a.authenticate, a.limitRate, jsonbody.ParseBody, a.checkIdempotencyKey, check, r.handle}
	case explaining:
		return []fiber.Handler{a.authenticate, a.countExplanation, a.limitRate, jsonbody.ParseBody, check, r.handle}
	case sendingTest:
		return []fiber.Handler{a.authenticate, countAlso(partners.TestDeliveryLimitRule), a.limitRate, jsonbody.ParseBody,
			check,
			r.handle}
	case redelivering:
		return []fiber.Handler{a.authenticate, countAlso(partners.RedeliveryLimitRule), a.limitRate, jsonbody.ParseBody,
			check,
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
	return append(chain, jsonbody.ParseBody, check, r.handle)
}

type route struct {
	method string
	path   string
	kind   kind
	handle fiber.Handler
}

// kind determines the additional checks of an API route.
type kind int

const (
	plain kind = iota
	keyed
	explaining   // The API route explains a signature; it has its own rate limit.
	sendingTest  // The API route sends a test delivery; it has its own rate limit.
	redelivering // The API route sends a webhook delivery again; it has its own rate limit.
	listing
	// The API route answers with the partner's next events, perhaps after a wait.
	following
)

// routes returns the table of API routes; docs/guides/adding.md explains how to add one.
func (a *api) routes() []route {
	const get, post, patch, del = fiber.MethodGet, fiber.MethodPost, fiber.MethodPatch, fiber.MethodDelete
	h := ServerInterfaceWrapper{Handler: NewStrictHandler(a, nil)}
	table := []route{
		{get, PathPrefix + "/me", plain, h.GetMe},

		{post, PathPrefix + "/api-keys", plain, h.CreateAPIKey},
		{get, PathPrefix + "/api-keys", listing, h.ListAPIKeys},
		{del, PathPrefix + "/api-keys/:keyId", plain, h.DeleteAPIKey},

		{get, PathPrefix + "/accounts", listing, h.ListAccounts},
		{get, PathPrefix + "/accounts/:accountId", plain, h.GetAccount},
		{del, PathPrefix + "/accounts/:accountId", plain, h.DeleteAccount},

		{post, PathPrefix + "/connect/explain", explaining, h.ExplainConnectURL},

		{post, PathPrefix + "/webhooks", keyed, h.CreateWebhook},
		{get, PathPrefix + "/webhooks", listing, h.ListWebhooks},
		{get, PathPrefix + "/webhooks/:webhookId", plain, h.GetWebhook},
		{patch, PathPrefix + "/webhooks/:webhookId", plain, h.UpdateWebhook},
		{del, PathPrefix + "/webhooks/:webhookId", plain, h.DeleteWebhook},
		{post, PathPrefix + "/webhooks/:webhookId/rotate-secret", plain, h.RotateWebhookSecret},
		{post, PathPrefix + "/webhooks/:webhookId/test", sendingTest, h.TestWebhook},
		{post, PathPrefix + "/webhooks/:webhookId/explain", explaining, h.ExplainWebhook},
		{get, PathPrefix + "/webhooks/:webhookId/deliveries", listing, h.ListWebhookDeliveries},
		{get, PathPrefix + "/webhooks/:webhookId/deliveries/:deliveryId", plain, h.GetWebhookDelivery},
		{post, PathPrefix + "/webhooks/:webhookId/deliveries/:deliveryId/redeliver", redelivering, h.RedeliverWebhookDelivery},
		{post, PathPrefix + "/webhooks/:webhookId/replay", plain, h.ReplayWebhookDeliveries},

		{get, PathPrefix + "/events", listing, h.ListEvents},
		{get, PathPrefix + "/events/feed", following, h.ReadFeed},
		{get, PathPrefix + "/events/:eventId", plain, h.GetEvent},

		{post, PathPrefix + "/clients", keyed, h.CreateClient},
		{get, PathPrefix + "/clients", listing, h.ListClients},
		{get, PathPrefix + "/clients/:clientId", plain, h.GetClient},
		{patch, PathPrefix + "/clients/:clientId", keyed, h.UpdateClient},
		{del, PathPrefix + "/clients/:clientId", plain, h.DeleteClient},

		{post, PathPrefix + "/deposits", keyed, h.CreateDeposit},
		{get, PathPrefix + "/deposits", listing, h.ListDeposits},
		{get, PathPrefix + "/deposits/:depositId", plain, h.GetDeposit},
		{post, PathPrefix + "/deposits/:depositId/cancel", keyed, h.CancelDeposit},
		{post, PathPrefix + "/deposits/:depositId/release", keyed, h.ReleaseDeposit},
		{post, PathPrefix + "/deposits/:depositId/capture", keyed, h.CaptureDeposit},
		{post, PathPrefix + "/deposits/:depositId/send-link", keyed, h.SendDepositLink},
		{post, PathPrefix + "/deposits/:depositId/send-link/batch", keyed, h.SendDepositLinkBatch},
	}
	if a.Environment != partner.EnvironmentProduction {
		table = append(table, route{post, PathPrefix + "/test/deposits/:depositId/simulate", plain, h.SimulateDeposit})
	}
	return table
}
