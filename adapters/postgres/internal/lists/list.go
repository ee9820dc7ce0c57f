// Package lists builds and runs the SQL queries of lists that are read page by page, fast however long the list
// is.
package lists

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	ports "partnerdeposits/ports/platform"
)

const (
	maxPerPage = 100
	// maxRead is the most rows that one statement of a list reads.
	maxRead = ports.MaxRowsReadPerPage
)

// PageQuery builds the SQL query of a page of a list, newest first. Conditions are constant texts with ? for
// arguments, so that Postgres plans each text once per connection.
type PageQuery struct {
	Table    string
	Identity []string // Columns of the primary key of the list's table.
	Order    []string // Columns by which the list is ordered, all descending.
	within   []string // SQL conditions that the index of the list answers, so that other rows are not read.
	Fits     []string // SQL conditions that are checked on each row of the list that is read.
	Args     []any
	Max      int  // The most rows that are read for a page of the list; 0 means maxRead.
	Back     bool // Whether the list is read towards newer rows.
}

// Where adds a condition that the list's index answers, so that other rows are not read.
func (l *PageQuery) Where(condition string, args ...any) {
	l.within = append(l.within, l.numbered(condition, args))
}

// Filter adds a condition that is checked on each row of the list.
func (l *PageQuery) Filter(condition string, args ...any) {
	l.Fits = append(l.Fits, l.numbered(condition, args))
}

func (l *PageQuery) numbered(condition string, args []any) string {
	for _, arg := range args {
		condition = strings.Replace(condition, "?", l.AddArgument(arg), 1)
	}
	return condition
}

// AddArgument adds an SQL argument and returns its placeholder, such as $2.
func (l *PageQuery) AddArgument(arg any) string {
	l.Args = append(l.Args, arg)
	return "$" + strconv.Itoa(len(l.Args))
}

// WhereTimeSpan adds conditions for those ends of a span of time that are set.
func (l *PageQuery) WhereTimeSpan(column string, s ports.TimeSpan) {
	if !s.From.IsZero() {
		l.Where(column+" >= ?", s.From)
	}
	if !s.To.IsZero() {
		l.Where(column+" < ?", s.To)
	}
}

// WhereIDTimeSpan adds conditions that the time in UUID v7 ids lies within a span. An id cannot contain a time
// before 1970.
func (l *PageQuery) WhereIDTimeSpan(column string, s ports.TimeSpan) {
	if !s.From.IsZero() {
		l.Where(column+" >= uuid_floor(greatest(?, timestamptz 'epoch'))", s.From)
	}
	if !s.To.IsZero() {
		l.Where(column+" < uuid_floor(greatest(?, timestamptz 'epoch'))", s.To)
	}
}

func (l *PageQuery) AfterCursor(c ports.Cursor) {
	switch {
	case c.IsZero():
	case len(l.Order) == 1:
		l.Where(l.Order[0]+" "+l.CursorOperator()+" ?", c.ID)
	default:
		l.Where("("+strings.Join(l.Order, ", ")+") "+l.CursorOperator()+" (?, ?)", c.At, c.ID)
	}
}

// CursorOperator returns > if the list is read towards newer rows, otherwise <.
func (l *PageQuery) CursorOperator() string {
	if l.Back {
		return ">"
	}
	return "<"
}

// OrderBy returns the ORDER BY clause; prefix is put before each column.
func (l *PageQuery) OrderBy(prefix string) string {
	direction := " DESC"
	if l.Back {
		direction = ""
	}
	return " ORDER BY " + prefix + strings.Join(l.Order, direction+", "+prefix) + direction
}

func (l *PageQuery) WhereClause() string {
	if len(l.within) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(l.within, " AND ")
}

func (l *PageQuery) reads() int {
	if l.Max > 0 {
		return l.Max
	}
	return maxRead
}

// RowsExpression returns a table expression with the rows of a page: columns, whether all filters match (fits),
// and the row's number n, 0 in a list without filters. The last row read is included, since the next page
// starts after it.
func (l *PageQuery) RowsExpression(p ports.Page) string {
	order := l.OrderBy("")
	limit := order + " LIMIT " + strconv.Itoa(PageQueryLimit(p))
	from := " FROM " + l.Table + l.WhereClause()
	if len(l.Fits) == 0 {
		return "(SELECT *, true AS fits, 0 AS n" + from + limit + ")"
	}
	columns := strings.Join(union(l.Identity, l.Order), ", ")
	read := "SELECT " + columns + ", (" + strings.Join(l.Fits, " AND ") + ") IS TRUE AS fits" + from + order + " LIMIT " +
		strconv.Itoa(l.reads())
	page := "SELECT * FROM (SELECT *, (row_number() OVER (" + order + "))::integer AS n FROM (" + read +
		") AS r) AS r WHERE fits OR n = " + strconv.Itoa(l.reads()) + limit
	same := make([]string, len(l.Identity))
	for i, column := range l.Identity {
		same[i] = "t." + column + " = page." + column
	}
	// OFFSET 0 makes Postgres look each row of the page up; a join could read the whole table.
	return "(SELECT t.*, page.fits, page.n FROM (" + page + ") AS page CROSS JOIN LATERAL (SELECT * FROM " + l.Table +
		" AS t WHERE " +
		strings.Join(same, " AND ") + " OFFSET 0) AS t)"
}

func union(a, b []string) []string {
	all := append([]string{}, a...)
	for _, s := range b {
		if !strings.Contains(" "+strings.Join(a, " ")+" ", " "+s+" ") {
			all = append(all, s)
		}
	}
	return all
}

// PageQueryLimit returns the LIMIT of a page's query: one row more than the page, rounded up for few query
// texts. As a parameter, it would mislead the planner.
func PageQueryLimit(p ports.Page) int {
	for _, step := range []int{1, 10, 25, 50} {
		if size(p) <= step {
			return step + 1
		}
	}
	return maxPerPage + 1
}

func size(p ports.Page) int { return max(1, min(p.Limit, maxPerPage)) }

// PageCandidateRow is a row of a list, with whether it matches the filters and its number.
type PageCandidateRow[T any] struct {
	Item T
	Fits bool
	N    int
}

// ReadPage runs the query of a page. scan scans a row, whose last columns are fits and n; place returns an
// item's sort key. Unreadable rows are reported and left out.
func ReadPage[T any](ctx context.Context, d pg.DB, l *PageQuery, p ports.Page, sql string,
	scan func(pgx.CollectableRow) (PageCandidateRow[T], error), place func(T) ports.Cursor) (ports.ListPage[T], error) {
	rows, err := pg.ReadRows(ctx, d, scan, func(row *PageCandidateRow[T], err error) {
		row.Fits = false
		d.ReportUnreadableRow(ctx, l.Table, place(row.Item).ID, err)
	}, sql, l.Args...)
	if err != nil {
		return ports.ListPage[T]{}, err
	}
	page := ports.ListPage[T]{Items: make([]T, 0, min(len(rows), size(p)))}
	if p.Rows != nil && len(rows) > 0 {
		*p.Rows += rows[len(rows)-1].N
	}
	if l.Back {
		defer func() { slices.Reverse(page.Items) }()
	}
	for i, row := range rows {
		if len(page.Items) == size(p) { // The row is one more than the page size, so a next page exists.
			page.Next = place(page.Items[size(p)-1])
			return page, nil
		}
		if row.Fits {
			page.Items = append(page.Items, row.Item)
		}
		// The next page begins after the last row that the query could return, even if unreadable rows before it are
		// missing.
		if row.N == l.reads() || i+1 == PageQueryLimit(p) {
			page.Next = place(row.Item)
		}
	}
	return page, nil
}
