package partnerapi

import (
	"context"

	"partnerdeposits/core/id"
)

func (a *api) GetMe(ctx context.Context, _ GetMeRequestObject) (GetMeResponseObject, error) {
	caller := requestOf(ctx).caller
	limits := a.Partners.RateLimitsOf(caller.Partner)
	return GetMe200JSONResponse{Data: Me{
		PartnerID: id.Partner.Of(caller.Partner.ID), Slug: caller.Partner.Slug, Name: caller.Partner.Name,
		Environment: string(a.Environment), KeyID: id.APIKey.Of(caller.Key.ID),
		Limits: MeLimits{RequestsPerMinute: limits.PerMinute, WritesPerMinute: limits.WritesPerMinute},
	}}, nil
}
