package partners

import (
	"context"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
)

// RotateConnectSecret replaces or sets a partner's connect secret, which cannot be read again. Connect URLs with
// the old secret become invalid at once.
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

// ClearConnectSecret removes a partner's connect secret; the pages then respond missing_connect_secret.
//
// Returns partner_not_found.
func (s *Service) ClearConnectSecret(ctx context.Context, slug string) error {
	return s.change(ctx, slug, audit.ConnectSecretClear, nil, func(ctx context.Context, p partner.Partner) error {
		return s.deps.Partners.SetConnectSecret(ctx, p.ID, "")
	})
}
