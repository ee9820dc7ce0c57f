// Package secret keeps plaintext secrets from wandering into logs, errors and JSON.
package secret

import (
	"crypto/subtle"
	"encoding/base64"
	"log/slog"
)

const redacted = "[secret]"

// Text is a plaintext secret. However it is printed or encoded it says "[secret]"; only Reveal gives it away.
type Text string

// Reveal returns the plaintext. Call it where the secret is used or handed out, nowhere else.
func (t Text) Reveal() string { return string(t) }

// Equal compares in constant time.
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

// Bytes is the least randomness of a secret: 192 bits, above the 160 that api.md §1 asks for, and a whole number of base64 characters.
const Bytes = 24

// FromRandom makes a secret of prefix and random, which holds at least Bytes random bytes.
func FromRandom(prefix string, random []byte) Text {
	return Text(prefix + base64.RawURLEncoding.EncodeToString(random))
}
