package partners

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	ports "partnerdeposits/ports/platform"
)

// PartnerStore stores the partners of the service, with their connect secrets and rate limits.
type PartnerStore interface {
	// Insert stores a new partner; connectSecret "" stands for no secret. Returns partner.ErrSlugTaken.
	Insert(ctx context.Context, p partner.Partner, connectSecret secret.Text) error
	// LockRow locks and returns the partner with a slug, or partner.ErrNotFound.
	LockRow(ctx context.Context, slug string) (partner.Partner, error)
	// Update stores Name, ContactEmail and ReturnOrigins of a partner. Returns partner.ErrNotFound.
	Update(ctx context.Context, p partner.Partner) error
	// SetConnectSecret replaces the connect secret of a partner; "" removes the secret. Returns partner.ErrNotFound.
	SetConnectSecret(ctx context.Context, partnerID id.ID, connectSecret secret.Text) error
	// SetRateLimit sets the rate limit of a partner, in requests a minute; 0 restores the default. Returns
	// partner.ErrNotFound.
	SetRateLimit(ctx context.Context, partnerID id.ID, perMinute int) error
	// PartnerBySlug returns the partner with a slug, or partner.ErrNotFound.
	PartnerBySlug(ctx context.Context, slug string) (partner.Partner, error)
	PartnerByID(ctx context.Context, partnerID id.ID) (partner.Partner, error)
	Partners(ctx context.Context) ([]partner.Partner, error)
	// ConnectSecret returns the connect secret of a partner, or "" if there is none.
	ConnectSecret(ctx context.Context, partnerID id.ID) (secret.Text, error)
}

// APIKeyStore stores the API keys of partners.
type APIKeyStore interface {
	// InsertKey stores a new API key; concurrent calls cannot exceed partner.MaxAPIKeys. Returns
	// partner.ErrAPIKeyLimit.
	InsertKey(ctx context.Context, k partner.APIKey, hash partner.APIKeyHash) error
	// LockKeyRow locks an API key, and returns the key and its partner, or partner.ErrAPIKeyNotFound.
	LockKeyRow(ctx context.Context, keyID id.ID) (partner.APIKey, partner.Partner, error)
	// RevokeKey revokes an API key; a second call changes nothing. Returns partner.ErrAPIKeyNotFound.
	RevokeKey(ctx context.Context, keyID id.ID, at time.Time) (partner.APIKey, error)
	Keys(ctx context.Context, partnerID id.ID, page ports.Page) (ports.ListPage[partner.APIKey], error)
	// KeyByHash returns the API key with a hash, also if revoked, and its partner. Returns partner.ErrInvalidAPIKey
	// for an unknown hash.
	KeyByHash(ctx context.Context, hash partner.APIKeyHash) (partner.APIKey, partner.Partner, error)
	// IsKnownKey reports, without a query to the database, whether KeyByHash found an API key before, revoked or not.
	// An implementation may forget keys.
	IsKnownKey(hash partner.APIKeyHash) bool
	// RecordKeyUse stores the time of an API key's last use. The record may be late, rounded or lost.
	RecordKeyUse(ctx context.Context, keyID id.ID, at time.Time)
}
