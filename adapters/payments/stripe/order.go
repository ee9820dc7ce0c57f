//go:build !broken_page_first

package stripe

import (
	"context"

	"partnerdeposits/ports"
)

// makeWay ends the intent of a debt before the tenant's page is made.
func (p *Provider) makeWay(ctx context.Context, known *record, o *item, _ ports.HostedPayment) (seen, error) {
	return p.end(ctx, known, o)
}
