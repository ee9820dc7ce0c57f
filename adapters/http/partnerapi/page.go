package partnerapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"net/url"
	"time"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

// list names a list; a cursor of one list is none of another.
type list byte

const (
	accountList list = iota + 1
	depositList
	webhookList
	deliveryList
)

const (
	defaultLimit = 100
	cursorBody   = 1 + 8 + len(id.ID{})
	cursorCheck  = 6
)

var cursorEncoding = base64.RawURLEncoding.Strict()

// cursor writes the place after which the next page begins: list, Unix microseconds, id, and a check that catches what
// no list gave out. It is a place in the caller's own list and opens nothing, so it needs no key.
func (l list) cursor(c ports.Cursor) string {
	b := make([]byte, 0, cursorBody+cursorCheck)
	b = append(b, byte(l))
	b = binary.BigEndian.AppendUint64(b, uint64(c.At.UnixMicro())) // read back as it was
	b = append(b, c.ID[:]...)
	sum := sha256.Sum256(b)
	return cursorEncoding.EncodeToString(append(b, sum[:cursorCheck]...))
}

// page reads limit and cursor of a request; the validator has seen to limit.
//
// Returns invalid_cursor.
func (l list) page(limit *Limit, cursor *Cursor) (ports.Page, error) {
	p := ports.Page{Limit: defaultLimit}
	if limit != nil {
		p.Limit = *limit
	}
	if cursor == nil {
		return p, nil
	}
	b, err := cursorEncoding.DecodeString(*cursor)
	if err != nil || len(b) != cursorBody+cursorCheck || b[0] != byte(l) {
		return p, fault.ErrBadCursor
	}
	sum := sha256.Sum256(b[:cursorBody])
	if !bytes.Equal(sum[:cursorCheck], b[cursorBody:]) {
		return p, fault.ErrBadCursor
	}
	p.Cursor.At = time.UnixMicro(int64(binary.BigEndian.Uint64(b[1:]))).UTC() // as it was written
	copy(p.Cursor.ID[:], b[9:])
	return p, nil
}

// following tells how the list goes on, in the body and as the Link header.
func (a *api) following(l list, next ports.Cursor, of *call) (Pagination, *string) {
	if next.IsZero() {
		return Pagination{}, nil
	}
	cursor := l.cursor(next)
	query, err := url.ParseQuery(of.query)
	if err != nil { // the validator has parsed it
		query = url.Values{}
	}
	query.Set("cursor", cursor)
	link := "<" + a.BaseURL + of.path + "?" + query.Encode() + `>; rel="next"`
	return Pagination{HasMore: true, NextCursor: &cursor}, &link
}

// nobody is an id that nothing has.
var nobody = id.ID{15: 1}

// parse reads an id of a path or a body. What cannot be one of ours is unknown, like an id that nothing has.
func parse(p id.Prefix, s string) id.ID {
	if parsed, ok := p.Parse(s); ok {
		return parsed
	}
	return nobody
}

// filter reads an id to filter by; zero where none was sent.
func filter(p id.Prefix, s *string) id.ID {
	if s == nil {
		return id.ID{}
	}
	return parse(p, *s)
}

// span reads the two ends of a time filter.
func span(from, to *Timestamp) (s ports.Span) {
	if from != nil {
		s.From = from.Time
	}
	if to != nil {
		s.To = to.Time
		if s.To.IsZero() { // the year 1 is a bound too, not an open end
			s.To = s.To.Add(time.Microsecond)
		}
	}
	return s
}

// value gives what a pointer points to, or the zero value.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// orNil gives a pointer to a text, nil where it is empty.
func orNil[T ~string](s T) *T {
	if s == "" {
		return nil
	}
	return &s
}
