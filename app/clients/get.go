package clients

import (
	"context"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/tenant"
)

// Get gives a client that the partner created.
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
	if link.Status() == connect.LinkRevoked {
		return tenant.Client{}, connect.ErrAccountRevoked
	}
	return client, nil
}
