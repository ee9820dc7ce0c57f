package partnerapi

import (
	"context"

	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	ports "partnerdeposits/ports/platform"
)

// ListAPIKeys answers with the calling partner's API keys, revoked ones included.
func (a *api) ListAPIKeys(ctx context.Context, r ListAPIKeysRequestObject) (ListAPIKeysResponseObject, error) {
	return answerList(ctx, a, keyList, r.Params.Limit, r.Params.Cursor,
		func(page ports.Page) (ports.ListPage[partner.APIKey], error) {
			return a.Partners.ListKeyPage(ctx, requestOf(ctx).caller.Partner.ID, page)
		}, apiKeyOf, func(k partner.APIKey) ports.Cursor { return ports.Cursor{At: k.CreatedAt, ID: k.ID} })
}

// CreateAPIKey creates an API key and answers with its plaintext. It takes no Idempotency-Key, so no stored
// response contains a key.
func (a *api) CreateAPIKey(ctx context.Context, r CreateAPIKeyRequestObject) (CreateAPIKeyResponseObject, error) {
	made, plain, err := a.Partners.CreateOwnKey(ctx, requestOf(ctx).caller, r.Body.Name)
	if err != nil {
		return nil, err
	}
	return CreateAPIKey201JSONResponse{Data: CreatedAPIKey{
		ID: id.APIKey.Of(made.ID), Name: made.Name, Prefix: made.Prefix, Last4: made.Last4,
		CreatedAt: TimestampOf(made.CreatedAt),
		Key:       plain.Reveal(),
	}}, nil
}

// DeleteAPIKey revokes an API key. A second call changes nothing.
func (a *api) DeleteAPIKey(ctx context.Context, r DeleteAPIKeyRequestObject) (DeleteAPIKeyResponseObject, error) {
	if err := a.Partners.RevokeOwnKey(ctx, requestOf(ctx).caller, parseID(id.APIKey, r.KeyID)); err != nil {
		return nil, err
	}
	return DeleteAPIKey204Response{}, nil
}

func apiKeyOf(k partner.APIKey) APIKey {
	return APIKey{
		ID: id.APIKey.Of(k.ID), Name: k.Name, Prefix: k.Prefix, Last4: k.Last4, CreatedAt: TimestampOf(k.CreatedAt),
		LastUsedAt: TimestampOrNil(k.LastUsedAt), RevokedAt: TimestampOrNil(k.RevokedAt),
	}
}
