// Package secret keeps plaintext secrets out of logs, errors and JSON.
package secret

import (
	"crypto/subtle"
	"encoding/base64"
	"log/slog"
)

const redacted = "[secret]"

// Text is a plaintext secret. Every way of printing or encoding a Text gives "[secret]"; only Reveal gives the
// plaintext.
type Text string

// Reveal returns the plaintext. Call Reveal only where the secret is used or shown to its owner.
func (t Text) Reveal() string { return string(t) }

// Equal compares a presented secret, in constant time.
func (t Text) Equal(other string) bool {
	return subtle.ConstantTimeCompare([]byte(t), []byte(other)) == 1
}

// String hides the secret from fmt.
func (t Text) String() string { return redacted }

// GoString hides the secret from %#v.
func (t Text) GoString() string { return redacted }

// MarshalText hides the secret from encoders.
func (t Text) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue hides the secret from slog.
func (t Text) LogValue() slog.Value { return slog.StringValue(redacted) }

// Bytes is the least number of random bytes of a secret: 192 bits, more than the required 160 (api.md §1) and a whole
// number of base64 characters.
const Bytes = 24

// FromRandom makes a secret from a prefix and at least Bytes random bytes.
func FromRandom(prefix string, random []byte) Text {
	return Text(prefix + base64.RawURLEncoding.EncodeToString(random))
}
