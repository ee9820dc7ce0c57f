package ports

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
)

// PartnerRepository writes partners, their keys and their connect secret.
type PartnerRepository interface {
	// Insert adds a partner; connectSecret "" leaves it without one. Returns partner.ErrSlugTaken.
	Insert(ctx context.Context, p partner.Partner, connectSecret secret.Text) error
	// SetConnectSecret replaces the secret; "" clears it. Returns partner.ErrNotFound.
	SetConnectSecret(ctx context.Context, partnerID id.ID, connectSecret secret.Text) error
	// SetRateLimit sets the partner's own limit; 0 goes back to the default. Returns partner.ErrNotFound.
	SetRateLimit(ctx context.Context, partnerID id.ID, perMinute int) error
	InsertKey(ctx context.Context, k partner.APIKey, hash partner.KeyHash) error
	// RevokeKey ends a key; revoking it again changes nothing. Returns partner.ErrAPIKeyNotFound.
	RevokeKey(ctx context.Context, keyID id.ID, at time.Time) (partner.APIKey, error)
}

// PartnerReader reads partners outside transactions.
type PartnerReader interface {
	// PartnerBySlug returns partner.ErrNotFound.
	PartnerBySlug(ctx context.Context, slug string) (partner.Partner, error)
	// PartnerByID returns partner.ErrNotFound.
	PartnerByID(ctx context.Context, partnerID id.ID) (partner.Partner, error)
	Partners(ctx context.Context) ([]partner.Partner, error)
	// ConnectSecret returns "" where none is provisioned.
	ConnectSecret(ctx context.Context, partnerID id.ID) (secret.Text, error)
	// Keys lists a partner's keys, newest first, revoked ones included.
	Keys(ctx context.Context, partnerID id.ID) ([]partner.APIKey, error)
}

// KeyReader serves authentication. An implementation may remember answers for up to five seconds:
// that is how long a revoked key may go on working (api.md §1).
type KeyReader interface {
	// KeyByHash returns partner.ErrInvalidAPIKey for an unknown hash. A revoked key is found.
	KeyByHash(ctx context.Context, hash partner.KeyHash) (partner.APIKey, partner.Partner, error)
	// TouchKey notes that the key was used; it may be late, coarse or lost.
	TouchKey(ctx context.Context, keyID id.ID, at time.Time)
}
