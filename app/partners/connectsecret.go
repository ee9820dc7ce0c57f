package partners

import (
	"context"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
)

// RotateConnectSecret replaces a partner's connect secret, or sets the first one. Connect URLs that were
// signed with the old secret become invalid at once. The new secret is returned once and cannot be read
// again.
//
// Returns partner_not_found.
func (s *Service) RotateConnectSecret(ctx context.Context, slug string) (secret.Text, error) {
	fresh := s.connectSecret()
	err := s.change(ctx, slug, audit.ConnectSecretRotate, nil, func(ctx context.Context, p partner.Partner) error {
		return s.deps.Partners.SetConnectSecret(ctx, p.ID, fresh)
	})
	if err != nil {
		return "", err
	}
	return fresh, nil
}

// ClearConnectSecret removes a partner's connect secret; the connect pages then respond with
// missing_connect_secret.
//
// Returns partner_not_found.
func (s *Service) ClearConnectSecret(ctx context.Context, slug string) error {
	return s.change(ctx, slug, audit.ConnectSecretClear, nil, func(ctx context.Context, p partner.Partner) error {
		return s.deps.Partners.SetConnectSecret(ctx, p.ID, "")
	})
}
