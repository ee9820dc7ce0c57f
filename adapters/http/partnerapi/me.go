package partnerapi

import (
	"context"

	"partnerdeposits/core/id"
)

// GetMe shows the caller to itself.
func (a *api) GetMe(ctx context.Context, _ GetMeRequestObject) (GetMeResponseObject, error) {
	who := callOf(ctx).caller
	limits := a.Partners.LimitsOf(who.Partner)
	return GetMe200JSONResponse{Data: Me{
		PartnerID: id.Partner.Of(who.Partner.ID), Slug: who.Partner.Slug, Name: who.Partner.Name,
		Environment: string(a.Environment), KeyID: id.APIKey.Of(who.Key.ID),
		Limits: MeLimits{RequestsPerMinute: limits.PerMinute, WritesPerMinute: limits.WritesPerMinute},
	}}, nil
}
