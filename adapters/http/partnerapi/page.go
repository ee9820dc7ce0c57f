package partnerapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"net/url"
	"time"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

// list identifies a list of the API; its cursor is invalid for every other list.
type list byte

const (
	accountList list = iota + 1
	depositList
	webhookList
	deliveryList
	keyList
	clientList
	eventList
	// The partner's events by number (the feed), paged by number without a cursor.
	feed
)

const (
	defaultLimit = 100
	cursorBody   = 1 + 8 + len(id.ID{})
	cursorCheck  = 6
)

var cursorEncoding = base64.RawURLEncoding.Strict()

// cursor encodes the position after a page's last item, with the first bytes of a SHA-256 that detects
// alterations. A cursor grants no access, so the hash needs no secret key.
func (l list) cursor(c ports.Cursor) string {
	b := make([]byte, 0, cursorBody+cursorCheck)
	b = append(b, byte(l))
	b = binary.BigEndian.AppendUint64(b, uint64(c.At.UnixMicro()))
	b = append(b, c.ID[:]...)
	sum := sha256.Sum256(b)
	return cursorEncoding.EncodeToString(append(b, sum[:cursorCheck]...))
}

// page returns limit and cursor of a list request; the validator has bounded the limit. Returns invalid_cursor.
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
		// base64 decoding ignores line breaks, so without the length several texts would be the same cursor.
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

// listResponse is the encoded page of a list or of the partner's next events.
type listResponse struct {
	body []byte
	link string // Link header with the URL of the next page; "" on the last page.
}

// answerList reads and encodes a list page; at returns the cursor after an item.
//
// Returns invalid_cursor, and the errors of read.
func answerList[T, V any](ctx context.Context, a *api, l list, limit *Limit, cursor *Cursor,
	read func(ports.Page) (ports.ListPage[T], error), view func(T) V, at func(T) ports.Cursor) (*listResponse, error) {
	page, err := l.page(limit, cursor)
	if err != nil {
		return nil, err
	}
	f := filling[T, V]{sizes: &a.sizes, key: sizeKey{requestOf(ctx).caller.Partner.ID, l}, view: view}
	rows := 0
	f.read = func(most int) ([]T, bool, error) {
		found, err := read(ports.Page{Limit: most, Cursor: page.Cursor, Rows: &rows})
		page.Cursor = found.Next
		return found.Items, len(found.Items) == most && !found.Next.IsZero() && rows < ports.MaxRowsReadPerPage, err
	}
	out := &listResponse{}
	out.body, err = f.encode(page.Limit, func() any {
		if f.cut {
			page.Cursor = at(f.last)
		}
		var tail struct {
			Pagination Pagination `json:"pagination"`
		}
		tail.Pagination, out.link = a.nextPage(l, page.Cursor, requestOf(ctx))
		return tail
	})
	return out, err
}

// nextPage returns a list response's pagination fields and Link header; "" on the last page.
func (a *api) nextPage(l list, next ports.Cursor, req *request) (Pagination, string) {
	if next.IsZero() {
		return Pagination{}, ""
	}
	cursor := l.cursor(next)
	query, err := url.ParseQuery(req.query)
	// The validator has parsed the query before, so this does not happen; the link would have the cursor alone.
	if err != nil {
		query = url.Values{}
	}
	query.Set("cursor", cursor)
	return Pagination{HasMore: true, NextCursor: &cursor},
		"<" + a.BaseURL + req.path + "?" + query.Encode() + `>; rel="next"`
}

func (l *listResponse) send(c *fiber.Ctx) error {
	if l.link != "" {
		c.Set(fiber.HeaderLink, l.link)
	}
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Status(fiber.StatusOK).Send(l.body)
}

func (l *listResponse) VisitListAPIKeysResponse(c *fiber.Ctx) error { return l.send(c) }

func (l *listResponse) VisitListAccountsResponse(c *fiber.Ctx) error { return l.send(c) }

func (l *listResponse) VisitListClientsResponse(c *fiber.Ctx) error { return l.send(c) }

func (l *listResponse) VisitListDepositsResponse(c *fiber.Ctx) error { return l.send(c) }

func (l *listResponse) VisitListEventsResponse(c *fiber.Ctx) error { return l.send(c) }

func (l *listResponse) VisitListWebhookDeliveriesResponse(c *fiber.Ctx) error { return l.send(c) }

func (l *listResponse) VisitListWebhooksResponse(c *fiber.Ctx) error { return l.send(c) }

func (l *listResponse) VisitReadFeedResponse(c *fiber.Ctx) error { return l.send(c) }
