package partners

import (
	"context"

	"partnerdeposits/core/partner"
)

// List gives all partners.
func (s *Service) List(ctx context.Context) ([]partner.Partner, error) {
	return s.deps.Partners.Partners(ctx)
}

// Show gives the partner with that slug.
//
// Returns partner_not_found.
func (s *Service) Show(ctx context.Context, slug string) (partner.Partner, error) {
	return s.deps.Partners.PartnerBySlug(ctx, slug)
}
