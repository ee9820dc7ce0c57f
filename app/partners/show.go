package partners

import (
	"context"

	"partnerdeposits/core/partner"
)

// List returns all partners.
func (s *Service) List(ctx context.Context) ([]partner.Partner, error) {
	return s.deps.Partners.Partners(ctx)
}

// Show returns the partner with this slug.
//
// Returns partner_not_found.
func (s *Service) Show(ctx context.Context, slug string) (partner.Partner, error) {
	return s.deps.Partners.PartnerBySlug(ctx, slug)
}
