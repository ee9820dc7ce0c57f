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

// Get returns a client of the partner, or client_not_found, or account_revoked after the link was revoked
// (api.md §2).
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

// List returns the partner's clients, newest first; none for an account that was never linked.
//
// Returns account_revoked when the filter's link was revoked.
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

// listed reports whether a partner may list an account's clients: not if it was never linked; a revoked link is an
// error.
func listed(link connect.Link, err error) (bool, error) {
	switch {
	case errors.Is(err, connect.ErrAccountNotFound):
		return false, nil
	case err == nil:
		err = link.CheckUsable()
	}
	return err == nil, err
}
