// Package id holds the identifiers of objects: UUIDs of version 7, which sort by time. Their external form is a
// prefix, an underscore and 26 characters of lower-case Crockford base32 (api.md §1).
package id

import "time"

// ID is the UUID of an object; zero for none.
type ID [16]byte

// Prefix is the beginning of an id's external form, which names the kind of object.
type Prefix string

// The prefixes of ids, one for each kind of object.
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
	Mail         Prefix = "msg"
	File         Prefix = "fil"
	AuditEntry   Prefix = "aud"
	LinkMailMark Prefix = "mrk"
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

// Time returns the id's time of creation, to the millisecond.
func (i ID) Time() time.Time {
	ms := int64(i[0])<<40 | int64(i[1])<<32 | int64(i[2])<<24 | int64(i[3])<<16 | int64(i[4])<<8 | int64(i[5])
	return time.UnixMilli(ms).UTC()
}

// Encode returns the id as 26 characters of base32, without a prefix.
func (i ID) Encode() string {
	var out [encodedLen]byte
	i.encodeTo(out[:])
	return string(out[:])
}

// encodeTo writes the id in base32 to out, from right to left. The first two of the 130 bits are zero.
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

// String returns the canonical form of the UUID, for logs and SQL.
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

// Of returns the external form of an id with this prefix.
func (p Prefix) Of(i ID) string {
	b := make([]byte, len(p)+1+encodedLen)
	copy(b, p)
	b[len(p)] = '_'
	i.encodeTo(b[len(p)+1:])
	return string(b)
}

// FormatOrNil returns the external form of an id; nil for a zero id.
func (p Prefix) FormatOrNil(i ID) *string {
	if i.IsZero() {
		return nil
	}
	s := p.Of(i)
	return &s
}

// Parse reads the external form of an id. ok is false for a text that Of never returns, which callers treat as an
// unknown id (api.md §1).
func (p Prefix) Parse(s string) (i ID, ok bool) {
	if len(s) != len(p)+1+encodedLen || s[:len(p)] != string(p) || s[len(p)] != '_' {
		return ID{}, false
	}
	s = s[len(p)+1:]
	// 26 characters hold two bits more than a UUID, so the first is at most 7.
	if decode[s[0]] > 7 {
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
