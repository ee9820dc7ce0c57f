package partnerapi

import (
	"context"
	"net/http"

	"partnerdeposits/app/partners/clients"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/core/id"
	"partnerdeposits/core/tenant"
	partnerports "partnerdeposits/ports/partners"
	ports "partnerdeposits/ports/platform"
)

func (a *api) CreateClient(ctx context.Context, r CreateClientRequestObject) (CreateClientResponseObject, error) {
	in := clients.NewClient{
		AccountID: parseID(id.Account, r.Body.AccountID),
		Person: tenant.Person{
			Email: r.Body.Email, FirstName: r.Body.FirstName, LastName: r.Body.LastName,
			Phone: value(r.Body.Phone), Locale: value(r.Body.Locale),
		},
	}
	response, err := a.Clients.Create(ctx, requestOf(ctx).caller, in,
		keyedCall(ctx, func(c tenant.Client) (idempotent.Response, error) {
			return encodeResponse(http.StatusCreated, ClientResponse{Data: clientOf(c)})
		}))
	return encodedResponse(response), err
}

func (a *api) GetClient(ctx context.Context, r GetClientRequestObject) (GetClientResponseObject, error) {
	found, err := a.Clients.Get(ctx, requestOf(ctx).caller.Partner.ID, parseID(id.Client, r.ClientID))
	if err != nil {
		return nil, err
	}
	return GetClient200JSONResponse{Data: clientOf(found)}, nil
}

func (a *api) ListClients(ctx context.Context, r ListClientsRequestObject) (ListClientsResponseObject, error) {
	f := partnerports.ClientFilter{PartnerID: requestOf(ctx).caller.Partner.ID,
		AccountID: optionalID(id.Account, r.Params.AccountID), Email: value(r.Params.Email)}
	return answerList(ctx, a, clientList, r.Params.Limit, r.Params.Cursor,
		func(page ports.Page) (ports.ListPage[tenant.Client], error) { return a.Clients.List(ctx, f, page) },
		clientOf, func(c tenant.Client) ports.Cursor { return ports.Cursor{At: c.CreatedAt, ID: c.ID} })
}

// UpdateClient changes the fields of a client that the request contains.
func (a *api) UpdateClient(ctx context.Context, r UpdateClientRequestObject) (UpdateClientResponseObject, error) {
	want := tenant.PersonChange{
		Email: r.Body.Email, FirstName: r.Body.FirstName, LastName: r.Body.LastName, Phone: r.Body.Phone.change(),
		Locale: r.Body.Locale.change(),
	}
	response, err := a.Clients.Update(ctx, requestOf(ctx).caller, parseID(id.Client, r.ClientID), want,
		keyedCall(ctx, func(c tenant.Client) (idempotent.Response, error) {
			return encodeResponse(http.StatusOK, ClientResponse{Data: clientOf(c)})
		}))
	return encodedResponse(response), err
}

// DeleteClient erases a client's personal data for good; the record and its id stay.
func (a *api) DeleteClient(ctx context.Context, r DeleteClientRequestObject) (DeleteClientResponseObject, error) {
	if err := a.Clients.Erase(ctx, requestOf(ctx).caller, parseID(id.Client, r.ClientID)); err != nil {
		return nil, err
	}
	return DeleteClient204Response{}, nil
}

func clientOf(c tenant.Client) ClientRecord {
	return ClientRecord{
		ID: id.Client.Of(c.ID), AccountID: id.Account.Of(c.AccountID), Email: c.Email, FirstName: c.FirstName,
		LastName: c.LastName,
		Phone:    orNil(c.Phone), Locale: orNil(c.Locale), CreatedAt: TimestampOf(c.CreatedAt),
	}
}
