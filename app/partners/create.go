package partners

import (
	"context"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
)

const FirstKeyName = "default"

type NewPartner struct {
	Slug          string
	Name          string
	ContactEmail  string   // The e-mail address of the partner's contact; "" for none.
	ReturnOrigins []string // The URLs to whose origins operators may be sent back; only the origins are stored.
}

// CreatedPartner is a new partner with secrets that cannot be read again.
type CreatedPartner struct {
	Partner       partner.Partner
	ConnectSecret secret.Text
	Key           partner.APIKey
	APIKey        secret.Text
}

// Create adds a partner with a connect secret and an API key, or returns invalid_field or partner_slug_taken.
func (s *Service) Create(ctx context.Context, in NewPartner) (CreatedPartner, error) {
	origins, err := in.validate(s.deps.Environment)
	if err != nil {
		return CreatedPartner{}, err
	}
	now := s.deps.Clock.Now()
	out := CreatedPartner{
		Partner: partner.Partner{
			ID: s.deps.Entropy.NewID(), Slug: in.Slug, Name: in.Name, ContactEmail: in.ContactEmail,
			ReturnOrigins: origins, HasConnectSecret: true, CreatedAt: now,
		},
		ConnectSecret: s.connectSecret(),
	}
	var hash partner.APIKeyHash
	out.Key, out.APIKey, hash = partner.NewAPIKey(s.deps.Entropy.NewID(), out.Partner.ID, s.deps.Environment, FirstKeyName,
		s.deps.Entropy.Bytes(secret.MinRandomBytes), now)
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		if err := s.deps.Partners.Insert(ctx, out.Partner, out.ConnectSecret); err != nil {
			return err
		}
		if err := s.deps.Keys.InsertKey(ctx, out.Key, hash); err != nil {
			return err
		}
		if err := s.mailKeyCreated(ctx, out.Partner, out.Key, admin); err != nil {
			return err
		}
		detail := map[string]string{"slug": in.Slug, "keyId": id.APIKey.Of(out.Key.ID)}
		return s.audit(ctx, audit.PartnerCreate, id.Partner.Of(out.Partner.ID), detail)
	})
	if err != nil {
		return CreatedPartner{}, err
	}
	return out, nil
}

func (s *Service) connectSecret() secret.Text {
	return secret.FromRandom(partner.ConnectSecretPrefix, s.deps.Entropy.Bytes(secret.MinRandomBytes))
}

// validate checks a new partner and returns its return origins.
func (in NewPartner) validate(env partner.Environment) ([]string, error) {
	if !partner.ValidSlug(in.Slug) {
		return nil, partner.ErrInvalidSlug
	}
	if err := validName(in.Name); err != nil {
		return nil, err
	}
	if err := validContact(in.ContactEmail); err != nil {
		return nil, err
	}
	return validOrigins(in.ReturnOrigins, env)
}
