package partnerapi

import (
	"context"
	"strings"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/app/checkout"
	"partnerdeposits/app/clients"
	"partnerdeposits/app/deposits"
	"partnerdeposits/app/idempotent"
	"partnerdeposits/app/partners"
	"partnerdeposits/app/webhooks"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/ports"
)

// Prefix begins every path of this API; its last part is the version.
const Prefix = "/api/partner/v1"

// Deps is what the API stands on.
type Deps struct {
	Partners *partners.Service
	Clients  *clients.Service
	Deposits *deposits.Service
	Webhooks *webhooks.Service
	Simulate Simulator // not asked in production
	Keys     *idempotent.Keys
	Limiter  ports.Limiter
	Clock    ports.Clock

	Environment partner.Environment
	// BaseURL is API_BASE_URL: the links to further pages begin with it.
	BaseURL string
	// OnRateLimited counts refused requests; nil counts nothing.
	OnRateLimited func()
}

// Simulator makes happen to a deposit what a tenant would do.
type Simulator interface {
	Simulate(ctx context.Context, partnerID, depositID id.ID, outcome checkout.Simulation) (*deposit.Deposit, error)
}

// api answers the operations of the document; each method stands in the file of its resource.
type api struct {
	Deps
	validator *Validator
}

var _ StrictServerInterface = (*api)(nil)

// Mount puts the API on router: authentication and rate limit before everything below Prefix, then the routes of
// routes.go. The router has middleware.RequestID, Recover, Deadline and Framing in front.
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
	d.BaseURL = strings.TrimRight(d.BaseURL, "/")
	a := &api{Deps: d, validator: validator}
	router.Use(Prefix, a.authenticate, a.limit)
	for _, r := range a.routes() {
		chain := a.chain(r)
		if r.method == fiber.MethodGet {
			router.Add(fiber.MethodHead, r.path, chain...)
		}
		router.Add(r.method, r.path, chain...)
	}
	return nil
}
