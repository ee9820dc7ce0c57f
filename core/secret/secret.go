// Package secret keeps plaintext secrets out of logs, errors and JSON.
package secret

import (
	"crypto/subtle"
	"encoding/base64"
	"log/slog"
)

const redacted = "[secret]"

// Text is a plaintext secret, printed and encoded as "[secret]".
type Text string

// Reveal returns the plaintext of the secret, only for its use or its owner.
func (t Text) Reveal() string { return string(t) }

// Equal compares a text with the secret in constant time.
func (t Text) Equal(other string) bool {
	return subtle.ConstantTimeCompare([]byte(t), []byte(other)) == 1
}

func (t Text) String() string { return redacted }

// GoString returns "[secret]", so that %#v does not print the secret.
func (t Text) GoString() string { return redacted }

// MarshalText returns "[secret]", so that encoders do not write the secret.
func (t Text) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue returns "[secret]", so that slog does not log the secret.
func (t Text) LogValue() slog.Value { return slog.StringValue(redacted) }

// MinRandomBytes is 192 bits, more than the required 160 (api.md §1), and a whole number of base64 characters.
const MinRandomBytes = 24

// FromRandom returns a secret made of a prefix and the base64 of random bytes.
func FromRandom(prefix string, random []byte) Text {
	return Text(prefix + base64.RawURLEncoding.EncodeToString(random))
}
