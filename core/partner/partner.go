// Package partner holds the rules about a partner (a property-management or booking system) and its API keys
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

// Environment is the kind of installation. It decides which API keys are valid and whether conveniences for
// development exist.
type Environment string

// The kinds of installation, set by SERVICE_ENV.
const (
	EnvironmentDevelopment Environment = "development"
	EnvironmentStaging     Environment = "staging"
	EnvironmentProduction  Environment = "production"
)

// Environments lists every kind of installation.
var Environments = []Environment{EnvironmentDevelopment, EnvironmentStaging, EnvironmentProduction}

// Partner is a system that connects operators and creates deposits for their accounts.
type Partner struct {
	ID id.ID
	// The partner's name in URLs and in signed messages. It has no dots, so that signed messages are unambiguous.
	Slug string
	Name string
	// The address that gets a mail when a subscription is disabled and when an API key is created or revoked; "":
	// none.
	ContactEmail string
	// The origins to which connect pages redirect without asking the operator, in the form of returnurl.Origin.
	ReturnOrigins      []string
	RateLimitPerMinute int // The partner's limit of requests per minute; 0: the service's default applies.
	HasConnectSecret   bool
	CreatedAt          time.Time
}

var slugPattern = regexp.MustCompile(`^[a-z0-9-]{2,40}$`)

// ValidSlug reports whether a text can be the slug of a partner (api.md §4).
func ValidSlug(s string) bool { return slugPattern.MatchString(s) }

// MaxAPIKeys is the largest number of API keys of a partner. Revoked keys do not count (api.md §2, "API keys").
const MaxAPIKeys = 20

// APIKey describes an API key of a partner. Only the hash of the key itself is stored.
type APIKey struct {
	ID        id.ID
	PartnerID id.ID
	Name      string
	Prefix    string // The beginning of the API key, which names its environment: svc_pk_test_ or svc_pk_live_.
	Last4     string
	CreatedAt time.Time
	// When the API key was last used, written with a delay of at most about a minute; zero: never used.
	LastUsedAt time.Time
	RevokedAt  time.Time // When the API key was revoked; zero: not revoked.
}

// Revoked reports whether the API key was revoked.
func (k APIKey) Revoked() bool { return !k.RevokedAt.IsZero() }

// Caller is the authenticated partner of a request, with the API key that it used.
type Caller struct {
	Partner Partner
	Key     APIKey
}

// Actor returns the calling partner as the author of a change.
func (c Caller) Actor() actor.Actor { return actor.Partner(c.Partner.ID, c.Key.ID) }

// APIKeyHash is the SHA-256 of an API key. Keys carry 192 random bits, so a fast hash is enough.
type APIKeyHash [sha256.Size]byte

// HashAPIKey returns the hash of an API key as sent with a request, by which the stored key is found.
func HashAPIKey(presented string) APIKeyHash { return sha256.Sum256([]byte(presented)) }

// ConnectSecretPrefix is the beginning of every connect secret (service.md, "Connect secret").
const ConnectSecretPrefix = "svc_cs_"

// APIKeyPrefix returns the beginning of the API keys that are valid in an environment.
func APIKeyPrefix(env Environment) string {
	if env == EnvironmentProduction {
		return "svc_pk_live_"
	}
	return "svc_pk_test_"
}

// NewAPIKey returns a new API key of a partner, made from at least secret.Bytes random bytes: its record, its
// plaintext and its hash. The plaintext is shown once and never stored.
func NewAPIKey(keyID, partnerID id.ID, env Environment, name string, random []byte,
	now time.Time) (APIKey, secret.Text, APIKeyHash) {
	prefix := APIKeyPrefix(env)
	plain := secret.FromRandom(prefix, random)
	raw := plain.Reveal()
	key := APIKey{ID: keyID, PartnerID: partnerID, Name: name, Prefix: prefix, Last4: raw[len(raw)-4:], CreatedAt: now}
	return key, plain, HashAPIKey(raw)
}

// APIKeyFromHeaders returns the API key of a request, from the header x-api-key, or if that is absent from the header
// Authorization, as "Bearer <key>" or bare (api.md §1).
//
// Returns ErrMissingAPIKey if both headers are absent and ErrInvalidAPIKey for a text that cannot be a key of env.
func APIKeyFromHeaders(env Environment, apiKey, authorization string) (string, error) {
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
	if !strings.HasPrefix(key, APIKeyPrefix(env)) {
		return "", ErrInvalidAPIKey
	}
	return key, nil
}
