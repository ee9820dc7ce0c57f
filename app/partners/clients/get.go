package clients

import (
	"context"
	"errors"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/tenant"
	partnerports "partnerdeposits/ports/partners"
	ports "partnerdeposits/ports/platform"
)

// Get returns a client of the partner.
//
// Returns client_not_found, or account_revoked when the link to the client's account was revoked (api.md §2).
func (s *Service) Get(ctx context.Context, partnerID, clientID id.ID) (tenant.Client, error) {
	client, err := s.deps.Clients.Client(ctx, partnerID, clientID)
	if err != nil {
		return tenant.Client{}, err
	}
	link, err := s.deps.Links.LinkedAccount(ctx, partnerID, client.AccountID)
	if err != nil {
		return tenant.Client{}, err
	}
	if err := link.CheckUsable(); err != nil {
		return tenant.Client{}, err
	}
	return client, nil
}

// List returns the partner's clients at its linked accounts, newest first. For an account that was never
// linked to the partner, the list is empty.
//
// Returns account_revoked when the link to the account of the filter was revoked, as Get does.
func (s *Service) List(ctx context.Context, f partnerports.ClientFilter,
	page ports.Page) (ports.ListPage[tenant.Client], error) {
	if !f.AccountID.IsZero() {
		link, err := s.deps.Links.LinkedAccount(ctx, f.PartnerID, f.AccountID)
		if listed, err := listed(link.Link, err); !listed {
			return ports.ListPage[tenant.Client]{}, err
		}
	}
	return s.deps.Clients.Clients(ctx, f, page)
}

// listed reports whether a partner may list the clients of an account. link and err are the stored link and the
// error of its query. true: the link is active; false: the account was never linked, which gives an empty list; a
// revoked link is an error.
func listed(link connect.Link, err error) (bool, error) {
	switch {
	case errors.Is(err, connect.ErrAccountNotFound):
		return false, nil
	case err == nil:
		err = link.CheckUsable()
	}
	return err == nil, err
}
