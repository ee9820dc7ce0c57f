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
	ports "partnerdeposits/ports/platform"
)

// list identifies a list of the API. The cursor of a list is invalid for every other list.
type list byte

const (
	accountList list = iota + 1
	depositList
	webhookList
	deliveryList
	keyList
	clientList
	eventList
)

const (
	defaultLimit = 100
	cursorBody   = 1 + 8 + len(id.ID{})
	cursorCheck  = 6
)

var cursorEncoding = base64.RawURLEncoding.Strict()

// cursor encodes the last item of a page: list, Unix microseconds, id, and the first bytes of their SHA-256, which
// catch altered cursors. A cursor grants no access (every list shows the caller's own rows), so the hash needs no key.
func (l list) cursor(c ports.Cursor) string {
	b := make([]byte, 0, cursorBody+cursorCheck)
	b = append(b, byte(l))
	b = binary.BigEndian.AppendUint64(b, uint64(c.At.UnixMicro()))
	b = append(b, c.ID[:]...)
	sum := sha256.Sum256(b)
	return cursorEncoding.EncodeToString(append(b, sum[:cursorCheck]...))
}

// page reads limit and cursor of a request. The validator has already bounded the limit.
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
	if err != nil || len(b) != cursorBody+cursorCheck || b[0] != byte(l) ||
		len(*cursor) != cursorEncoding.EncodedLen(len(b)) {
		// decoding passes over line breaks
		return p, fault.ErrBadCursor
	}
	sum := sha256.Sum256(b[:cursorBody])
	if !bytes.Equal(sum[:cursorCheck], b[cursorBody:]) {
		return p, fault.ErrBadCursor
	}
	p.Cursor.At = time.UnixMicro(int64(binary.BigEndian.Uint64(b[1:]))).UTC()
	copy(p.Cursor.ID[:], b[9:])
	return p, nil
}

// nextPage returns the pagination of the response body and the Link header; no link on the last page.
func (a *api) nextPage(l list, next ports.Cursor, req *request) (Pagination, *string) {
	if next.IsZero() {
		return Pagination{}, nil
	}
	cursor := l.cursor(next)
	query, err := url.ParseQuery(req.query)
	if err != nil { // cannot happen: the validator has parsed the same query
		query = url.Values{}
	}
	query.Set("cursor", cursor)
	link := "<" + a.BaseURL + req.path + "?" + query.Encode() + `>; rel="next"`
	return Pagination{HasMore: true, NextCursor: &cursor}, &link
}
