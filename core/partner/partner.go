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

// Environment is the kind of installation, which decides the valid API keys and the conveniences for development.
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
	// The partner's name in URLs and signed messages. It has no dots, so that these are unambiguous.
	Slug string
	Name string
	// The address for mails about disabled subscriptions and changed API keys; "": none.
	ContactEmail string
	// The origins, as in returnurl.Origin, to which connect pages redirect without asking the operator.
	ReturnOrigins      []string
	RateLimitPerMinute int // The partner's limit of requests per minute; 0: the service's default applies.
	HasConnectSecret   bool
	CreatedAt          time.Time
}

var slugPattern = regexp.MustCompile(`^[a-z0-9-]{2,40}$`)

// ValidSlug checks the form of a slug (api.md §4).
func ValidSlug(s string) bool { return slugPattern.MatchString(s) }

// MaxAPIKeys is the largest number of API keys of a partner that are not revoked (api.md §2, "API keys").
const MaxAPIKeys = 20

// APIKey describes an API key, of which only the hash is stored.
type APIKey struct {
	ID        id.ID
	PartnerID id.ID
	Name      string
	Prefix    string // The beginning of the API key, which names its environment: svc_pk_test_ or svc_pk_live_.
	Last4     string
	CreatedAt time.Time
	// When the API key was last used, up to about a minute late; zero: never.
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

// APIKeyHash is the SHA-256 of an API key. A fast hash is enough for 192 random bits.
type APIKeyHash [sha256.Size]byte

// HashAPIKey returns the hash of an API key as sent with a request, by which the stored key is found.
func HashAPIKey(presented string) APIKeyHash { return sha256.Sum256([]byte(presented)) }

// ConnectSecretPrefix begins every connect secret (service.md, "Connect secret").
const ConnectSecretPrefix = "svc_cs_"

// APIKeyPrefix returns the beginning of the API keys that are valid in an environment.
func APIKeyPrefix(env Environment) string {
	if env == EnvironmentProduction {
		return "svc_pk_live_"
	}
	return "svc_pk_test_"
}

// NewAPIKey returns the record, plaintext and hash of a new API key, made from random bytes. The plaintext is never
// stored.
func NewAPIKey(keyID, partnerID id.ID, env Environment, name string, random []byte,
	now time.Time) (APIKey, secret.Text, APIKeyHash) {
	prefix := APIKeyPrefix(env)
	plain := secret.FromRandom(prefix, random)
	raw := plain.Reveal()
	key := APIKey{ID: keyID, PartnerID: partnerID, Name: name, Prefix: prefix, Last4: raw[len(raw)-4:], CreatedAt: now}
	return key, plain, HashAPIKey(raw)
}

// APIKeyFromHeaders returns the API key in the header x-api-key, or else in Authorization, as "Bearer <key>" or
// bare (api.md §1).
//
// Returns ErrMissingAPIKey without both headers and ErrInvalidAPIKey for a text that cannot be a key of env.
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
