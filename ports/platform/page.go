package platform

import (
	"time"

	"partnerdeposits/core/id"
)

// Page requests a page of a list that is sorted newest first.
type Page struct {
	Limit  int
	Cursor Cursor // The position in the list after which the page begins; zero: the first page.
	// Back: true requests the page before the cursor, where the list can be read backwards; false the page after it.
	Back bool
	// Rows, if set, counts the rows that are read to find those that match the filters of the list.
	Rows *int
}

// MaxRowsReadPerPage is the number of database rows that may be read for a page of a list; then the page ends, full
// or not (api.md §1, "Lists").
const MaxRowsReadPerPage = 2000

// Cursor is the sort key of the last row of a page; the next page begins after that row.
type Cursor struct {
	At time.Time
	ID id.ID
}

// IsZero reports whether a cursor stands for the start of the list.
func (c Cursor) IsZero() bool { return c.ID.IsZero() }

// ListPage is a page of a list. Next is the cursor from which the next page is read in the same direction; it is zero
// on the last page. A page with Next may hold fewer items than its limit, or none: the number of rows that a page
// reads is bounded (api.md §1, "Lists").
type ListPage[T any] struct {
	Items []T
	Next  Cursor
}

// APIListedTables are the database tables whose rows the API lists.
var APIListedTables = []string{
	"account_links", "accounts", "api_keys", "clients", "deliveries", "deposits", "events", "webhook_subscriptions",
}

// TimeSpan is a range of time. From is included, To is not; a zero time is no bound.
type TimeSpan struct{ From, To time.Time }
