package partners

import (
	"context"

	"partnerdeposits/core/partner"
)

func (s *Service) List(ctx context.Context) ([]partner.Partner, error) {
	return s.deps.Partners.Partners(ctx)
}

// Get returns the partner with this slug, or partner_not_found.
func (s *Service) Get(ctx context.Context, slug string) (partner.Partner, error) {
	return s.deps.Partners.PartnerBySlug(ctx, slug)
}
