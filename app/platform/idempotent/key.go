package idempotent

import (
	"encoding/hex"
	"strings"

	ports "partnerdeposits/ports/platform"
)

// ParseKey parses an Idempotency-Key, a UUID v4 in any case, with or without quotes, or returns
// ports.ErrInvalidIdempotencyKey.
func ParseKey(header string) (key [16]byte, err error) {
	s := header
	if n := len(s); n >= 2 && s[0] == '"' && s[n-1] == '"' {
		s = s[1 : n-1]
	}
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return key, ports.ErrInvalidIdempotencyKey
	}
	digits := strings.ReplaceAll(s, "-", "")
	if len(digits) != 2*len(key) {
		return key, ports.ErrInvalidIdempotencyKey
	}
	if _, err := hex.Decode(key[:], []byte(digits)); err != nil {
		return [16]byte{}, ports.ErrInvalidIdempotencyKey
	}
	const version4, variant = 0x40, 0x80
	if key[6]&0xf0 != version4 || key[8]&0xc0 != variant {
		return [16]byte{}, ports.ErrInvalidIdempotencyKey
	}
	return key, nil
}
