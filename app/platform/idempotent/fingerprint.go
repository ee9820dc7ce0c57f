package idempotent

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Fingerprint returns the SHA-256 of a request body's meaning (api.md §1, "Idempotency"): names are sorted and
// numbers exact, so 70, 70.0 and 7e1 are equal. body holds nil, bool, string, json.Number, []any and
// map[string]any; the nil map is no body.
func Fingerprint(body map[string]any) [sha256.Size]byte {
	if body == nil {
		return sha256.Sum256(nil)
	}
	return sha256.Sum256(appendCanonical(make([]byte, 0, usualBody), body))
}

// The size in bytes that is enough for the canonical form of most request bodies.
const usualBody = 512

// appendCanonical appends a JSON value's canonical form, whose bytes are equal only for equal values.
func appendCanonical(b []byte, value any) []byte {
	switch v := value.(type) {
	case map[string]any:
		b = append(b, '{')
		for _, key := range slices.Sorted(maps.Keys(v)) {
			b = appendText(b, key)
			b = appendCanonical(b, v[key])
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for _, item := range v {
			b = appendCanonical(b, item)
		}
		return append(b, ']')
	case string:
		return appendText(b, v)
	case json.Number:
		return append(appendNumber(b, string(v)), ';')
	case bool:
		return strconv.AppendBool(b, v)
	default:
		return append(b, "null"...)
	}
}

// appendText appends a text after its length, so that no text can imitate another value.
func appendText(b []byte, s string) []byte {
	b = append(b, '"')
	b = strconv.AppendInt(b, int64(len(s)), 10)
	b = append(b, ':')
	return append(b, s...)
}

// The largest number of digits for which every exponent fits 63 bits.
const longExponent = 18

// appendNumber appends a number as sign, digits without outer zeros, and power of ten; a longer exponent than
// longExponent is compared literally. The cost depends on the length of s, not on the exponent.
func appendNumber(b []byte, s string) []byte {
	negative := strings.HasPrefix(s, "-")
	mantissa, exponent := strings.TrimPrefix(s, "-"), ""
	if at := strings.IndexAny(mantissa, "eE"); at >= 0 {
		mantissa, exponent = mantissa[:at], mantissa[at+1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	trimmed := strings.TrimRight(digits, "0")
	if trimmed == "" {
		return append(b, '0')
	}
	if negative {
		b = append(b, '-')
	}
	b = append(b, trimmed...)
	b = append(b, 'e')
	minus := strings.HasPrefix(exponent, "-")
	exponent = strings.TrimLeft(strings.TrimLeft(exponent, "+-"), "0")
	shift := int64(len(digits) - len(trimmed) - len(fraction))
	if len(exponent) > longExponent {
		if minus {
			b = append(b, '-')
		}
		b = append(b, exponent...)
		b = append(b, '+')
		return strconv.AppendInt(b, shift, 10)
	}
	// The exponent has at most 18 digits, so parsing cannot fail.
	power, _ := strconv.ParseInt("0"+exponent, 10, 64)
	if minus {
		power = -power
	}
	return strconv.AppendInt(b, power+shift, 10)
}
