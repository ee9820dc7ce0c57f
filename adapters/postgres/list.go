package postgres

import (
	"context"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/ports"
)

const maxPerPage = 100

// list builds the query of a list, newest first, from the filters that are set. Conditions are constants with ? for each
// argument; values travel as parameters, never in the text.
type list struct {
	sql  strings.Builder
	args []any
}

func newList(selection string, args ...any) *list {
	l := &list{}
	l.write(selection, args...)
	return l
}

func (l *list) write(text string, args ...any) {
	for _, arg := range args {
		before, after, _ := strings.Cut(text, "?")
		l.args = append(l.args, arg)
		l.sql.WriteString(before)
		l.sql.WriteByte('$')
		l.sql.WriteString(strconv.Itoa(len(l.args)))
		text = after
	}
	l.sql.WriteString(text)
}

// where adds a condition.
func (l *list) where(condition string, args ...any) { l.write(" AND "+condition, args...) }

// within adds the bounds of span that are set.
func (l *list) within(column string, span ports.Span) {
	if !span.From.IsZero() {
		l.where(column+" >= ?", span.From)
	}
	if !span.To.IsZero() {
		l.where(column+" < ?", span.To)
	}
}

// page orders by time and id and starts after the cursor. The limit is a row above the page size, to see whether a next
// page exists.
func (l *list) page(at, id string, p ports.Page) {
	if !p.Cursor.IsZero() {
		l.where("("+at+", "+id+") < (?, ?)", p.Cursor.At, p.Cursor.ID)
	}
	l.write(" ORDER BY "+at+" DESC, "+id+" DESC LIMIT ?", size(p)+1)
}

// withinID and pageByID are within and page for lists in the order of UUID v7 ids, which contain their time. An id cannot
// hold a time before 1970.
func (l *list) withinID(column string, span ports.Span) {
	if !span.From.IsZero() {
		l.where(column+" >= uuid_floor(greatest(?, timestamptz 'epoch'))", span.From)
	}
	if !span.To.IsZero() {
		l.where(column+" < uuid_floor(greatest(?, timestamptz 'epoch'))", span.To)
	}
}

func (l *list) pageByID(id string, p ports.Page) {
	if !p.Cursor.IsZero() {
		l.where(id+" < ?", p.Cursor.ID)
	}
	l.write(" ORDER BY "+id+" DESC LIMIT ?", size(p)+1)
}

func size(p ports.Page) int { return max(1, min(p.Limit, maxPerPage)) }

// read runs the query and cuts the page; place gives the sort key of an item.
func read[T any](ctx context.Context, d pg.DB, l *list, p ports.Page, scan func(pgx.CollectableRow) (T, error), place func(T) ports.Cursor) (ports.List[T], error) {
	rows, err := d.Query(ctx, l.sql.String(), l.args...)
	if err != nil {
		return ports.List[T]{}, err
	}
	items, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return ports.List[T]{}, pg.Translate(err)
	}
	if len(items) <= size(p) {
		return ports.List[T]{Items: items}, nil
	}
	items = items[:size(p)]
	return ports.List[T]{Items: items, Next: place(items[len(items)-1])}, nil
}
