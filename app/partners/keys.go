package partners

import (
	"context"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	ports "partnerdeposits/ports/platform"
)

// keyAuthor is who creates or revokes an API key: an admin or a partner.
type keyAuthor struct {
	actor  actor.Actor
	inMail string
}

var admin = keyAuthor{actor: actor.Staff, inMail: mails.SupportName}

func authorOf(by partner.Caller) keyAuthor {
	return keyAuthor{actor: by.Actor(), inMail: mails.APIKeyAuthor(by.Key)}
}

// CreateKey adds an API key to a partner; its plaintext cannot be read again.
//
// Returns invalid_field, partner_not_found or api_key_limit_reached.
func (s *Service) CreateKey(ctx context.Context, slug, name string) (partner.APIKey, secret.Text, error) {
	return s.createKey(ctx, slug, name, admin)
}

// CreateOwnKey adds an API key to the calling partner; its plaintext cannot be read again.
//
// Returns invalid_field or api_key_limit_reached.
func (s *Service) CreateOwnKey(ctx context.Context, by partner.Caller,
	name string) (partner.APIKey, secret.Text, error) {
	return s.createKey(ctx, by.Partner.Slug, name, authorOf(by))
}

func (s *Service) createKey(ctx context.Context, slug, name string,
	by keyAuthor) (key partner.APIKey, plain secret.Text, err error) {
	if err := validName(name); err != nil {
		return key, "", err
	}
	random, keyID, now := s.deps.Entropy.Bytes(secret.MinRandomBytes), s.deps.Entropy.NewID(), s.deps.Clock.Now()
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		owner, err := s.deps.Partners.LockRow(ctx, slug)
		if err != nil {
			return err
		}
		var hash partner.APIKeyHash
		key, plain, hash = partner.NewAPIKey(keyID, owner.ID, s.deps.Environment, name, random, now)
		if err := s.deps.Keys.InsertKey(ctx, key, hash); err != nil {
			return err
		}
		if err := s.mailKeyCreated(ctx, owner, key, by); err != nil {
			return err
		}
		return s.auditKey(ctx, audit.APIKeyCreate, key, by, map[string]string{"name": name})
	})
	if err != nil {
		return partner.APIKey{}, "", err
	}
	return key, plain, nil
}

func (s *Service) mailKeyCreated(ctx context.Context, owner partner.Partner, key partner.APIKey, by keyAuthor) error {
	if owner.ContactEmail == "" {
		return nil
	}
	return s.deps.Mails.Enqueue(ctx,
		mails.APIKeyCreated{Contact: owner.ContactEmail, Key: key, By: by.inMail}.Mail(s.deps.Entropy.NewID(), key.CreatedAt))
}

func (s *Service) auditKey(
	ctx context.Context, verb audit.Action, key partner.APIKey, by keyAuthor,
	detail map[string]string,
) error {
	detail["partnerId"] = id.Partner.Of(key.PartnerID)
	return s.auditBy(ctx, by.actor, verb, id.APIKey.Of(key.ID), detail)
}

// RevokeKey revokes an API key; every process refuses it within five seconds (api.md §1).
//
// Returns api_key_not_found.
func (s *Service) RevokeKey(ctx context.Context, keyID string) (partner.APIKey, error) {
	parsed, ok := id.APIKey.Parse(keyID)
	if !ok {
		return partner.APIKey{}, partner.ErrAPIKeyNotFound
	}
	return s.revokeKey(ctx, parsed, admin, nil)
}

// RevokeOwnKey revokes an API key of the calling partner, even the last or the calling one.
//
// Returns api_key_not_found, for keys of other partners too.
func (s *Service) RevokeOwnKey(ctx context.Context, by partner.Caller, keyID id.ID) error {
	_, err := s.revokeKey(ctx, keyID, authorOf(by), &by.Partner.ID)
	return err
}

// revocable checks whether an API key may be revoked; changes is false if it was before. only is the calling
// partner, nil for an admin.
//
// Returns api_key_not_found for a key of another partner.
func revocable(key partner.APIKey, owner id.ID, only *id.ID) (changes bool, err error) {
	if only != nil && owner != *only {
		return false, partner.ErrAPIKeyNotFound
	}
	return !key.Revoked(), nil
}

func (s *Service) revokeKey(ctx context.Context, keyID id.ID, by keyAuthor,
	only *id.ID) (key partner.APIKey, err error) {
	now := s.deps.Clock.Now()
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		found, owner, err := s.deps.Keys.LockKeyRow(ctx, keyID)
		if err != nil {
			return err
		}
		changes, err := revocable(found, owner.ID, only)
		if err != nil {
			return err
		}
		if !changes {
			key = found
			return nil
		}
		if key, err = s.deps.Keys.RevokeKey(ctx, keyID, now); err != nil {
			return err
		}
		if owner.ContactEmail != "" {
			mail := mails.APIKeyRevoked{Contact: owner.ContactEmail, Key: key, By: by.inMail}.Mail(s.deps.Entropy.NewID(), now)
			if err := s.deps.Mails.Enqueue(ctx, mail); err != nil {
				return err
			}
		}
		return s.auditKey(ctx, audit.APIKeyRevoke, key, by, map[string]string{})
	})
	return key, err
}

// ListKeyPage lists a partner's API keys, revoked ones included, newest first.
func (s *Service) ListKeyPage(ctx context.Context, partnerID id.ID, page ports.Page) (ports.ListPage[partner.APIKey],
	error) {
	return s.deps.Keys.Keys(ctx, partnerID, page)
}

// ListAllKeys returns all API keys of a partner, revoked ones included, newest first, or partner_not_found.
func (s *Service) ListAllKeys(ctx context.Context, slug string) (all []partner.APIKey, err error) {
	const pageSize = 100
	p, err := s.deps.Partners.PartnerBySlug(ctx, slug)
	if err != nil {
		return nil, err
	}
	for page := (ports.Page{Limit: pageSize}); ; {
		found, err := s.ListKeyPage(ctx, p.ID, page)
		if err != nil {
			return nil, err
		}
		all = append(all, found.Items...)
		if page.Cursor = found.Next; page.Cursor.IsZero() {
			return all, nil
		}
	}
}
