package partnerapi

import (
	"context"
	"net/http"

	"partnerdeposits/app/clients"
	"partnerdeposits/app/idempotent"
	"partnerdeposits/core/id"
	"partnerdeposits/core/tenant"
)

// CreateClient adds a client to a linked account.
func (a *api) CreateClient(ctx context.Context, r CreateClientRequestObject) (CreateClientResponseObject, error) {
	in := clients.NewClient{
		AccountID: parseID(id.Account, r.Body.AccountID),
		Person: tenant.Person{
			Email: r.Body.Email, FirstName: r.Body.FirstName, LastName: r.Body.LastName,
			Phone: value(r.Body.Phone), Locale: value(r.Body.Locale),
		},
	}
	response, err := a.Clients.Create(ctx, requestOf(ctx).caller, in, keyedCall(ctx, func(c tenant.Client) (idempotent.Response, error) {
		return encodeResponse(http.StatusCreated, ClientResponse{Data: clientOf(c)})
	}))
	return encodedResponse(response), err
}

// GetClient returns a client that the caller created.
func (a *api) GetClient(ctx context.Context, r GetClientRequestObject) (GetClientResponseObject, error) {
	found, err := a.Clients.Get(ctx, requestOf(ctx).caller.Partner.ID, parseID(id.Client, r.ClientID))
	if err != nil {
		return nil, err
	}
	return GetClient200JSONResponse{Data: clientOf(found)}, nil
}

func clientOf(c tenant.Client) ClientRecord {
	return ClientRecord{
		ID: id.Client.Of(c.ID), AccountID: id.Account.Of(c.AccountID), Email: c.Email, FirstName: c.FirstName, LastName: c.LastName,
		Phone: orNil(c.Phone), Locale: orNil(c.Locale), CreatedAt: TimestampOf(c.CreatedAt),
	}
}
