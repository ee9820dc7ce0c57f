// Package partner holds the partner (a property-management or booking system) and the API keys of a partner
// (service.md, "Partner API key").
package partner

import (
	"crypto/sha256"
	"regexp"
	"strings"
	"time"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
)

// Faults of authentication (service.md, "401") and of the admin commands.
var (
	ErrMissingAPIKey = fault.New(fault.Unauthenticated, "missing_api_key", "Send your API key in the x-api-key header.")
	ErrInvalidAPIKey = fault.New(fault.Unauthenticated, "invalid_api_key", "The API key is wrong or unknown.")
	ErrAPIKeyRevoked = fault.New(fault.Unauthenticated, "api_key_revoked",
		"This API key was revoked. Generate a new one.")
	ErrAPIKeyNotFound = fault.New(fault.NotFound, "api_key_not_found", "There is no such API key.")
	ErrAPIKeyLimit    = fault.New(fault.Conflict, "api_key_limit_reached",
		"A partner can have 20 API keys at most. Delete one first.")
	ErrNotFound    = fault.New(fault.NotFound, "partner_not_found", "There is no such partner.")
	ErrSlugTaken   = fault.New(fault.Conflict, "partner_slug_taken", "A partner with this slug exists already.")
	ErrInvalidSlug = fault.New(fault.Invalid, "invalid_field", "slug: must be 2 to 40 of a-z, 0-9 and -.")
)

// Environment decides which API keys are valid and whether conveniences for development exist.
type Environment string

// The environments of an installation, set by SERVICE_ENV.
const (
	Development Environment = "development"
	Staging     Environment = "staging"
	Production  Environment = "production"
)

// Environments lists every environment.
var Environments = []Environment{Development, Staging, Production}

// Partner is a system that connects operators and creates deposits for their accounts.
type Partner struct {
	ID   id.ID
	Slug string // part of the signed payload; has no dots, so the payload is unambiguous
	Name string
	// receives a mail when a subscription is disabled and when an API key is made or revoked; "" for none
	ContactEmail       string
	ReturnOrigins      []string // origins that connect redirects to without a question, in the form of returnurl.Origin
	RateLimitPerMinute int      // 0: the service's default
	HasConnectSecret   bool
	CreatedAt          time.Time
}

var slugPattern = regexp.MustCompile(`^[a-z0-9-]{2,40}$`)

// ValidSlug reports whether s can be a partner slug (api.md §4).
func ValidSlug(s string) bool { return slugPattern.MatchString(s) }

// MaxAPIKeys is the number of API keys that a partner can have at a time; revoked keys do not count (api.md §2, "API
// keys").
const MaxAPIKeys = 20

// APIKey is a credential of a partner. Only the hash of the key is stored.
type APIKey struct {
	ID         id.ID
	PartnerID  id.ID
	Name       string
	Prefix     string // svc_pk_test_ or svc_pk_live_
	Last4      string
	CreatedAt  time.Time
	LastUsedAt time.Time // about a minute late at most; zero: never used
	RevokedAt  time.Time // zero: not revoked
}

// Revoked reports whether the key was revoked.
func (k APIKey) Revoked() bool { return !k.RevokedAt.IsZero() }

// Caller is an authenticated partner, with the API key of the request.
type Caller struct {
	Partner Partner
	Key     APIKey
}

// Actor is the caller as the author of a change.
func (c Caller) Actor() actor.Actor { return actor.Partner(c.Partner.ID, c.Key.ID) }

// KeyHash is the SHA-256 of a whole key. Keys carry 192 random bits, so a fast hash is enough.
type KeyHash [sha256.Size]byte

// HashKey gives the hash of a presented key, by which the stored key is found.
func HashKey(presented string) KeyHash { return sha256.Sum256([]byte(presented)) }

// ConnectSecretPrefix begins every connect secret (service.md, "Connect secret").
const ConnectSecretPrefix = "svc_cs_"

// KeyPrefix gives the prefix of the API keys that are valid in env.
func KeyPrefix(env Environment) string {
	if env == Production {
		return "svc_pk_live_"
	}
	return "svc_pk_test_"
}

// NewAPIKey makes a key from at least secret.Bytes random bytes. The plaintext is shown once and never stored.
func NewAPIKey(keyID, partnerID id.ID, env Environment, name string, random []byte,
	now time.Time) (APIKey, secret.Text, KeyHash) {
	prefix := KeyPrefix(env)
	plain := secret.FromRandom(prefix, random)
	raw := plain.Reveal()
	key := APIKey{ID: keyID, PartnerID: partnerID, Name: name, Prefix: prefix, Last4: raw[len(raw)-4:], CreatedAt: now}
	return key, plain, HashKey(raw)
}

// PresentedKey takes the API key from the header x-api-key. If that header is absent, PresentedKey takes the key from
// the header Authorization, as "Bearer <key>" or bare (api.md §1).
//
// Returns ErrMissingAPIKey if both headers are absent and ErrInvalidAPIKey for a text that cannot be a key of env.
func PresentedKey(env Environment, apiKey, authorization string) (string, error) {
	key := apiKey
	if key == "" {
		if authorization == "" {
			return "", ErrMissingAPIKey
		}
		key = authorization
		if scheme, rest, found := strings.Cut(authorization, " "); found {
			if !strings.EqualFold(scheme, "Bearer") {
				return "", ErrInvalidAPIKey
			}
			key = strings.TrimSpace(rest)
		}
	}
	if !strings.HasPrefix(key, KeyPrefix(env)) {
		return "", ErrInvalidAPIKey
	}
	return key, nil
}
