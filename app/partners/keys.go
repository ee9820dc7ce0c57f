package partners

import (
	"context"

	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/ports"
)

// CreateKey adds an API key to a partner. The plaintext cannot be read again.
//
// Returns invalid_field or partner_not_found.
func (s *Service) CreateKey(ctx context.Context, slug, name string) (partner.APIKey, secret.Text, error) {
	if err := validName(name); err != nil {
		return partner.APIKey{}, "", err
	}
	p, err := s.deps.Partners.PartnerBySlug(ctx, slug)
	if err != nil {
		return partner.APIKey{}, "", err
	}
	key, plain, hash := partner.NewAPIKey(s.deps.Entropy.NewID(), p.ID, s.deps.Environment, name, s.deps.Entropy.Bytes(secret.Bytes), s.deps.Clock.Now())
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) error {
		if err := repos.Partners.InsertKey(ctx, key, hash); err != nil {
			return err
		}
		return s.audit(ctx, repos, "api_key.create", id.APIKey.Of(key.ID), map[string]string{"partnerId": id.Partner.Of(p.ID), "name": name})
	})
	if err != nil {
		return partner.APIKey{}, "", err
	}
	return key, plain, nil
}

// RevokeKey revokes an API key by its outside id. Every process refuses the key within five seconds (api.md §1).
//
// Returns api_key_not_found.
func (s *Service) RevokeKey(ctx context.Context, keyID string) (key partner.APIKey, err error) {
	parsed, ok := id.APIKey.Parse(keyID)
	if !ok {
		return key, partner.ErrAPIKeyNotFound
	}
	now := s.deps.Clock.Now()
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) (err error) {
		if key, err = repos.Partners.RevokeKey(ctx, parsed, now); err != nil {
			return err
		}
		return s.audit(ctx, repos, "api_key.revoke", keyID, map[string]string{"partnerId": id.Partner.Of(key.PartnerID)})
	})
	return key, err
}

// ListKeys lists a partner's API keys, revoked keys included, newest first.
//
// Returns partner_not_found.
func (s *Service) ListKeys(ctx context.Context, slug string) ([]partner.APIKey, error) {
	p, err := s.deps.Partners.PartnerBySlug(ctx, slug)
	if err != nil {
		return nil, err
	}
	return s.deps.Partners.Keys(ctx, p.ID)
}
