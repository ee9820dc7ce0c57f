package partnerapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	ports "partnerdeposits/ports/platform"
)

// Euros is a JSON number of euros with the caller's digits, so no amount is rounded when it is read
// (api.md §1, "Money"). The zero value is no amount.
type Euros struct{ literal string }

// EurosOf returns cents as euros, with as few digits as possible: 70, 70.5, 2500.01.
func EurosOf(c money.Cents) Euros { return Euros{literal: string(c.AppendEuros(nil))} }

// Cents converts euros to whole cents without rounding. Returns money.ErrNotNumber or money.ErrFractionCents.
func (e Euros) Cents() (money.Cents, error) { return money.ParseEuros(e.literal) }

func (e Euros) String() string { return e.literal }

func (e *Euros) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || (b[0] != '-' && (b[0] < '0' || b[0] > '9')) {
		return errors.New("euros: not a JSON number")
	}
	e.literal = string(b)
	return nil
}

var errNoAmount = errors.New("euros: no amount")

func (e Euros) MarshalJSON() ([]byte, error) {
	if e.literal == "" {
		return nil, errNoAmount
	}
	return []byte(e.literal), nil
}

// Clearable is an optional text of an update: absent (keep), null (clear), or a new text.
type Clearable struct {
	sent bool
	text string
}

// UnmarshalJSON accepts a text or null and records that it was sent.
func (c *Clearable) UnmarshalJSON(b []byte) error {
	c.sent, c.text = true, ""
	return json.Unmarshal(b, &c.text)
}

// change returns an update's new text: nil if the field was absent, "" for null.
func (c Clearable) change() *string {
	if !c.sent {
		return nil
	}
	return &c.text
}

// Timestamp is a time in a request or response: RFC 3339 in UTC, in responses with milliseconds (api.md §1).
type Timestamp struct{ time.Time }

func TimestampOf(t time.Time) Timestamp { return Timestamp{t} }

// TimestampOrNil returns an optional time for a response: nil for the zero time.
func TimestampOrNil(t time.Time) *Timestamp {
	if t.IsZero() {
		return nil
	}
	return &Timestamp{t}
}

var errNotUTC = errors.New("timestamp: not RFC 3339 in UTC")

// ParseTimestamp parses an RFC 3339 time with the offset Z or +00:00 only.
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

// looksUTC reports whether a text is exactly an RFC 3339 time in UTC. Package time also accepts hours of one digit
// and a comma before the fraction.
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
	// Length of the fraction of a second: the point and up to nine digits.
	fraction := len(rest) - len(offset)
	if rest[0] == '.' && (fraction < 2 || fraction > 10) || rest[0] != '.' && fraction > 0 {
		return false
	}
	return offset == "Z" || offset == "+00:00"
}

func (t *Timestamp) Bind(src string) error {
	parsed, err := ParseTimestamp(src)
	if err == nil {
		*t = parsed
	}
	return err
}

func (t *Timestamp) UnmarshalText(b []byte) error { return t.Bind(string(b)) }

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

func (t Timestamp) MarshalJSON() ([]byte, error) { return t.appendJSON(nil), nil }

// MarshalJSONTo writes without an allocation: a list of deposits contains hundreds of times.
func (t Timestamp) MarshalJSONTo(enc *jsontext.Encoder) error {
	return enc.WriteValue(t.appendJSON(enc.AvailableBuffer()))
}

func (t Timestamp) MarshalText() ([]byte, error) { return t.appendText(nil), nil }

func (t Timestamp) appendJSON(b []byte) []byte { return append(t.appendText(append(b, '"')), '"') }

// appendText appends the time in UTC with milliseconds. Package time formats RFC 3339 without parsing the layout.
func (t Timestamp) appendText(b []byte) []byte {
	b = t.UTC().AppendFormat(b, time.RFC3339)
	ms := t.Nanosecond() / int(time.Millisecond)
	return append(b[:len(b)-1], '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z')
}

// unknownID is an id that no row in the database has.
var unknownID = id.ID{15: 1}

// parseID parses an id; a text that is no id becomes unknownID, so the response is "not found".
func parseID(p id.Prefix, s string) id.ID {
	if parsed, ok := p.Parse(s); ok {
		return parsed
	}
	return unknownID
}

// optionalID parses the id by which a list is filtered; the zero id for none.
func optionalID(p id.Prefix, s *string) id.ID {
	if s == nil {
		return id.ID{}
	}
	return parseID(p, *s)
}

// timeSpan converts a time filter's ends into a span; a missing end is open.
func timeSpan(from, to *Timestamp) (s ports.TimeSpan) {
	if from != nil {
		s.From = from.Time
	}
	if to != nil {
		s.To = to.Time
		// As the end of a time filter the zero time would mean an open end, so it moves by a microsecond.
		if s.To.IsZero() {
			s.To = s.To.Add(time.Microsecond)
		}
	}
	return s
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func orNil[T ~string](s T) *T {
	if s == "" {
		return nil
	}
	return &s
}
