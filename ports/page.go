package ports

import (
	"time"

	"partnerdeposits/core/id"
)

// Page asks for a part of a list, newest first.
type Page struct {
	Limit  int    // 1 to 100
	Cursor Cursor // zero: from the start
}

// Cursor is the place after which the next page begins: the sort key of the last row seen.
// Its outside form, opaque to callers, is made in adapters/http.
type Cursor struct {
	At time.Time
	ID id.ID
}

// IsZero reports whether the cursor stands at the start.
func (c Cursor) IsZero() bool { return c.ID.IsZero() }

// List is a page of a list. Next is zero where nothing follows.
type List[T any] struct {
	Items []T
	Next  Cursor
}

// Span bounds a time from both sides; a zero bound is open. From is included, To is not.
type Span struct{ From, To time.Time }
