package partners

import (
	"context"

	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/ports"
)

// RotateConnectSecret replaces the connect secret, or provisions the first one. Links signed with the old one stop
// working at once. The new one is shown this once.
//
// Returns partner_not_found.
func (s *Service) RotateConnectSecret(ctx context.Context, slug string) (secret.Text, error) {
	fresh := s.connectSecret()
	err := s.change(ctx, slug, "connect_secret.rotate", nil, func(ctx context.Context, repos ports.Repositories, p partner.Partner) error {
		return repos.Partners.SetConnectSecret(ctx, p.ID, fresh)
	})
	if err != nil {
		return "", err
	}
	return fresh, nil
}

// ClearConnectSecret takes the connect secret away: connect pages then say missing_connect_secret.
//
// Returns partner_not_found.
func (s *Service) ClearConnectSecret(ctx context.Context, slug string) error {
	return s.change(ctx, slug, "connect_secret.clear", nil, func(ctx context.Context, repos ports.Repositories, p partner.Partner) error {
		return repos.Partners.SetConnectSecret(ctx, p.ID, "")
	})
}
