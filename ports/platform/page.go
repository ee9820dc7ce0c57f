package platform

import (
	"time"

	"partnerdeposits/core/id"
)

// Page asks for a part of a list, which is sorted newest first.
type Page struct {
	Limit  int    // 1 to 100
	Cursor Cursor // zero: the first page
	// Back asks for the page before the cursor instead of the one after it, where a list offers that.
	Back bool
	// Rows, if set, counts the rows that are read to find those that fit the filters of the list.
	Rows *int
}

// PageReads is the number of rows after whose reading a page ends (api.md §1, "Lists").
const PageReads = 2000

// Cursor is the sort key of the last row of a page; the next page begins after that row. Package adapters/http makes
// the outside form, which is opaque to callers.
type Cursor struct {
	At time.Time
	ID id.ID
}

// IsZero reports whether the cursor is at the start of the list.
func (c Cursor) IsZero() bool { return c.ID.IsZero() }

// List is a page of a list. Next is where the reading goes on in its direction, and zero on the last page. A page with
// Next may hold fewer items than its limit, or none: the rows that a page reads are bounded (api.md §1, "Lists").
type List[T any] struct {
	Items []T
	Next  Cursor
}

// ListedTables are the tables whose rows are listed: a row of them that cannot be read is passed over and counted.
var ListedTables = []string{
	"account_links", "accounts", "api_keys", "clients", "deliveries", "deposits", "events", "webhook_subscriptions",
}

// Span is a range of time. From is included, To is not; a zero time is no bound.
type Span struct{ From, To time.Time }
