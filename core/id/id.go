// Package id holds identifiers. Inside the service an id is a UUID of version 7, so ids sort by time. The outside form,
// in answers and events, is a prefix, an underscore and 26 characters of lower-case Crockford base32 (api.md §1).
package id

import "time"

// ID is a UUID. The zero ID means "none".
type ID [16]byte

// Prefix begins the outside form of an id and names the kind of object.
type Prefix string

// The prefix of each kind of object.
const (
	Partner      Prefix = "prt"
	APIKey       Prefix = "key"
	Account      Prefix = "acct"
	Operator     Prefix = "opr"
	Link         Prefix = "lnk"
	Client       Prefix = "cli"
	Deposit      Prefix = "dep"
	Payment      Prefix = "pay"
	Refund       Prefix = "rfd"
	Event        Prefix = "evt"
	Subscription Prefix = "pwh"
	Delivery     Prefix = "dlv"
	Replay       Prefix = "rpl"
	Request      Prefix = "req"
	Message      Prefix = "msg"
	File         Prefix = "fil"
	AuditEntry   Prefix = "aud"
	LinkMark     Prefix = "mrk"
)

const (
	alphabet   = "0123456789abcdefghjkmnpqrstvwxyz"
	encodedLen = 26
)

var decode = func() (t [256]byte) {
	for i := range t {
		t[i] = 0xff
	}
	for i := range len(alphabet) {
		t[alphabet[i]] = byte(i)
	}
	return t
}()

// IsZero reports whether the id is not set.
func (i ID) IsZero() bool { return i == ID{} }

// Time is the time of creation that a UUID v7 contains, in milliseconds.
func (i ID) Time() time.Time {
	ms := int64(i[0])<<40 | int64(i[1])<<32 | int64(i[2])<<24 | int64(i[3])<<16 | int64(i[4])<<8 | int64(i[5])
	return time.UnixMilli(ms).UTC()
}

// Encode gives the 26 characters after the prefix.
func (i ID) Encode() string {
	var out [encodedLen]byte
	i.encodeTo(out[:])
	return string(out[:])
}

// encodeTo writes 130 bits, five for each character, from right to left. The first two bits are zero.
func (i ID) encodeTo(out []byte) {
	var acc uint32
	bits, pos := 0, encodedLen-1
	for b := len(i) - 1; b >= 0; b-- {
		acc |= uint32(i[b]) << bits
		bits += 8
		for bits >= 5 {
			out[pos] = alphabet[acc&31]
			pos--
			acc >>= 5
			bits -= 5
		}
	}
	out[pos] = alphabet[acc&31]
}

// String is the canonical UUID form, for logs and SQL.
func (i ID) String() string {
	b := make([]byte, 0, 36)
	for n, c := range i {
		if n == 4 || n == 6 || n == 8 || n == 10 {
			b = append(b, '-')
		}
		b = append(b, hexDigits[c>>4], hexDigits[c&15])
	}
	return string(b)
}

const hexDigits = "0123456789abcdef"

// Of gives the outside form: prefix, underscore, 26 characters.
func (p Prefix) Of(i ID) string {
	b := make([]byte, len(p)+1+encodedLen)
	copy(b, p)
	b[len(p)] = '_'
	i.encodeTo(b[len(p)+1:])
	return string(b)
}

// OfOrNil is Of for an optional id: nil if the id is not set.
func (p Prefix) OfOrNil(i ID) *string {
	if i.IsZero() {
		return nil
	}
	s := p.Of(i)
	return &s
}

// Parse reads the outside form. ok is false for a text that Of never gives. Callers treat such a text as an unknown id,
// not as a malformed request (api.md §1).
func (p Prefix) Parse(s string) (i ID, ok bool) {
	if len(s) != len(p)+1+encodedLen || s[:len(p)] != string(p) || s[len(p)] != '_' {
		return ID{}, false
	}
	s = s[len(p)+1:]
	if decode[s[0]] > 7 { // 26 × 5 bits are two bits more than a UUID has
		return ID{}, false
	}
	var acc uint32
	bits, pos := 0, len(i)-1
	for c := encodedLen - 1; c >= 0; c-- {
		v := decode[s[c]]
		if v == 0xff {
			return ID{}, false
		}
		acc |= uint32(v) << bits
		bits += 5
		if bits >= 8 && pos >= 0 {
			i[pos] = byte(acc)
			pos--
			acc >>= 8
			bits -= 8
		}
	}
	return i, !i.IsZero()
}
