package partnerapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	ports "partnerdeposits/ports/platform"
)

// Euros is a JSON number of euros, such as 70.5. The literal stays as the caller wrote it, so no amount is rounded on
// the way in (api.md §1, "Money"). The zero value is no amount.
type Euros struct{ literal string }

// EurosOf returns the shortest literal of c: 70, 70.5, 2500.01.
func EurosOf(c money.Cents) Euros { return Euros{literal: string(c.AppendEuros(nil))} }

// Cents converts the literal without rounding.
//
// Returns money.ErrNotNumber or money.ErrFractionCents.
func (e Euros) Cents() (money.Cents, error) { return money.ParseEuros(e.literal) }

// String returns the literal.
func (e Euros) String() string { return e.literal }

// UnmarshalJSON keeps the literal of a JSON number.
func (e *Euros) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || (b[0] != '-' && (b[0] < '0' || b[0] > '9')) {
		return errors.New("euros: not a JSON number")
	}
	e.literal = string(b)
	return nil
}

var errNoAmount = errors.New("euros: no amount")

// MarshalJSON writes the literal.
func (e Euros) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil) }

// AppendJSON appends the literal.
func (e Euros) AppendJSON(b []byte) ([]byte, error) {
	if e.literal == "" {
		return b, errNoAmount
	}
	return append(b, e.literal...), nil
}

// Clearable is an optional text of a change: absent, null, or a text.
type Clearable struct {
	sent bool
	text string
}

// UnmarshalJSON reads a text or null.
func (c *Clearable) UnmarshalJSON(b []byte) error {
	c.sent, c.text = true, ""
	return json.Unmarshal(b, &c.text)
}

// change is nil for an absent text, and "" for null.
func (c Clearable) change() *string {
	if !c.sent {
		return nil
	}
	return &c.text
}

// timestampLayout is the form of every time in a response: milliseconds and Z (api.md §1).
const timestampLayout = "2006-01-02T15:04:05.000Z"

// Timestamp is a time in a request or response: RFC 3339 in UTC.
type Timestamp struct{ time.Time }

// TimestampOf wraps t.
func TimestampOf(t time.Time) Timestamp { return Timestamp{t} }

// TimestampOrNil wraps an optional time: nil for the zero time.
func TimestampOrNil(t time.Time) *Timestamp {
	if t.IsZero() {
		return nil
	}
	return &Timestamp{t}
}

var errNotUTC = errors.New("timestamp: not RFC 3339 in UTC")

// ParseTimestamp accepts RFC 3339 with the offset Z or +00:00, and no other offset.
func ParseTimestamp(s string) (Timestamp, error) {
	if !looksUTC(s) {
		return Timestamp{}, errNotUTC
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return Timestamp{}, errNotUTC
	}
	return Timestamp{t.UTC()}, nil
}

// looksUTC refuses forms that package time accepts: hours of a single digit and a comma before the fraction.
func looksUTC(s string) bool {
	const shape = "0000-00-00T00:00:00"
	if len(s) <= len(shape) {
		return false
	}
	for i := range len(shape) {
		digit := s[i] >= '0' && s[i] <= '9'
		if (shape[i] == '0' && !digit) || (shape[i] != '0' && s[i] != shape[i]) {
			return false
		}
	}
	rest := s[len(shape):]
	offset := strings.TrimLeft(strings.TrimPrefix(rest, "."), "0123456789")
	fraction := len(rest) - len(offset) // the point and up to nine digits
	if rest[0] == '.' && (fraction < 2 || fraction > 10) || rest[0] != '.' && fraction > 0 {
		return false
	}
	return offset == "Z" || offset == "+00:00"
}

// Bind reads the timestamp of a query parameter.
func (t *Timestamp) Bind(src string) error {
	parsed, err := ParseTimestamp(src)
	if err == nil {
		*t = parsed
	}
	return err
}

// UnmarshalText reads what ParseTimestamp reads.
func (t *Timestamp) UnmarshalText(b []byte) error { return t.Bind(string(b)) }

// UnmarshalJSON reads what ParseTimestamp reads.
func (t *Timestamp) UnmarshalJSON(b []byte) error {
	if !bytes.HasPrefix(b, []byte{'"'}) {
		return errNotUTC
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return errNotUTC
	}
	return t.Bind(s)
}

// MarshalJSON writes milliseconds and Z.
func (t Timestamp) MarshalJSON() ([]byte, error) {
	return t.AppendJSON(make([]byte, 0, len(timestampLayout)+2))
}

// AppendJSON appends milliseconds and Z. A list holds hundreds of times, and AppendFormat reads the layout for each.
func (t Timestamp) AppendJSON(b []byte) ([]byte, error) {
	u := t.UTC()
	year, month, day := u.Date()
	if year < 1000 || year > 9999 {
		return u.AppendFormat(b, `"`+timestampLayout+`"`), nil
	}
	hour, minute, second := u.Clock()
	b = appendPadded(append(b, '"'), year, 4)
	b = appendPadded(append(b, '-'), int(month), 2)
	b = appendPadded(append(b, '-'), day, 2)
	b = appendPadded(append(b, 'T'), hour, 2)
	b = appendPadded(append(b, ':'), minute, 2)
	b = appendPadded(append(b, ':'), second, 2)
	b = appendPadded(append(b, '.'), u.Nanosecond()/int(time.Millisecond), 3)
	return append(b, 'Z', '"'), nil
}

// appendPadded appends the last digits of n, with leading zeros.
func appendPadded(b []byte, n, digits int) []byte {
	b = append(b, "0000"[:digits]...)
	for i := len(b) - 1; n > 0; i-- {
		b[i] = byte('0' + n%10)
		n /= 10
	}
	return b
}

// MarshalText writes milliseconds and Z.
func (t Timestamp) MarshalText() ([]byte, error) {
	return t.UTC().AppendFormat(nil, timestampLayout), nil
}

// unknownID is the id of no row.
var unknownID = id.ID{15: 1}

// parseID reads an id of a path or a body. A text that is no id becomes unknownID, so it is answered with "not found".
func parseID(p id.Prefix, s string) id.ID {
	if parsed, ok := p.Parse(s); ok {
		return parsed
	}
	return unknownID
}

// optionalID reads an id to filter by; the zero id when none was sent.
func optionalID(p id.Prefix, s *string) id.ID {
	if s == nil {
		return id.ID{}
	}
	return parseID(p, *s)
}

// timeSpan reads the two ends of a time filter.
func timeSpan(from, to *Timestamp) (s ports.Span) {
	if from != nil {
		s.From = from.Time
	}
	if to != nil {
		s.To = to.Time
		if s.To.IsZero() { // the zero time means an open end, which was not asked for
			s.To = s.To.Add(time.Microsecond)
		}
	}
	return s
}

// value returns *p, or the zero value for nil.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// orNil returns a pointer to s; nil for an empty text.
func orNil[T ~string](s T) *T {
	if s == "" {
		return nil
	}
	return &s
}
