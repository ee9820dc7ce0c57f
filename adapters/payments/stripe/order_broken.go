//go:build broken_page_first

package stripe

import (
	"context"
	"net/http"

	"github.com/stripe/stripe-go/v85"

	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

// makeWay is the broken variant: the tenant's page is made while the intent can still be charged (docs/guides/faults.md).
func (p *Provider) makeWay(ctx context.Context, known *record, o *item, r ports.HostedPayment) (seen, error) {
	var early stripe.CheckoutSession
	_, err := p.api.send(ctx, request{
		call: "open", method: http.MethodPost, path: sessionsPath, key: id.Payment.Of(known.id) + ":page:early", body: pageRequest(r, 0, p.clock.Now()),
	}, &early)
	if err != nil {
		return seen{}, p.failed(ctx, err)
	}
	return p.end(ctx, known, o)
}
