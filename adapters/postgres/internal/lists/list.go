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
	// maxRead bounds the rows that a statement reads. A page of 100 needs so many when one row of twenty fits.
	maxRead = ports.PageReads
)

// List builds the query of a list, newest first unless it is read back. Conditions are constants with ? for each
// argument; values travel as parameters, never in the text. The text depends on nothing but the set of filters, the
// direction and the step of the page size, so that Postgres plans each text once for a connection.
type List struct {
	Table    string
	Identity []string // columns of the primary key
	Order    []string // columns of the order, all descending
	within   []string // Conditions that the index of the list answers: other rows are not read
	Fits     []string // Conditions that are checked on each row that is read
	Args     []any
	Max      int  // rows that a page reads; 0: maxRead
	Back     bool // rows are read from the cursor on to newer ones
}

// Where adds a condition that the index of the list answers.
func (l *List) Where(condition string, args ...any) {
	l.within = append(l.within, l.numbered(condition, args))
}

// Filter adds a condition that is checked on each row.
func (l *List) Filter(condition string, args ...any) {
	l.Fits = append(l.Fits, l.numbered(condition, args))
}

func (l *List) numbered(condition string, args []any) string {
	for _, arg := range args {
		condition = strings.Replace(condition, "?", l.Argument(arg), 1)
	}
	return condition
}

// Argument adds an argument and returns its place in the text.
func (l *List) Argument(arg any) string {
	l.Args = append(l.Args, arg)
	return "$" + strconv.Itoa(len(l.Args))
}

// Span adds the bounds of s that are set.
func (l *List) Span(column string, s ports.Span) {
	if !s.From.IsZero() {
		l.Where(column+" >= ?", s.From)
	}
	if !s.To.IsZero() {
		l.Where(column+" < ?", s.To)
	}
}

// SpanOfIDs is span for lists in the order of UUID v7 ids, which contain their time. An id cannot hold a time before
// 1970.
func (l *List) SpanOfIDs(column string, s ports.Span) {
	if !s.From.IsZero() {
		l.Where(column+" >= uuid_floor(greatest(?, timestamptz 'epoch'))", s.From)
	}
	if !s.To.IsZero() {
		l.Where(column+" < uuid_floor(greatest(?, timestamptz 'epoch'))", s.To)
	}
}

// After starts the page after the cursor.
func (l *List) After(c ports.Cursor) {
	switch {
	case c.IsZero():
	case len(l.Order) == 1:
		l.Where(l.Order[0]+" "+l.Beyond()+" ?", c.ID)
	default:
		l.Where("("+strings.Join(l.Order, ", ")+") "+l.Beyond()+" (?, ?)", c.At, c.ID)
	}
}

// Beyond compares a row with the cursor.
func (l *List) Beyond() string {
	if l.Back {
		return ">"
	}
	return "<"
}

// OrderBy is the order in which rows are read. prefix stands before each column.
func (l *List) OrderBy(prefix string) string {
	direction := " DESC"
	if l.Back {
		direction = ""
	}
	return " ORDER BY " + prefix + strings.Join(l.Order, direction+", "+prefix) + direction
}

// Conditions is the WHERE clause of the conditions that the index answers.
func (l *List) Conditions() string {
	if len(l.within) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(l.within, " AND ")
}

// reads is the number of rows that a page reads at most.
func (l *List) reads() int {
	if l.Max > 0 {
		return l.Max
	}
	return maxRead
}

// Rows is a table expression with the rows of the page: the columns of the table, whether the row fits, and the number
// n of the row among those that were read, which is 0 in a list without filters. Row number reads is there even if it
// does not fit: the next page starts after it.
func (l *List) Rows(p ports.Page) string {
	order := l.OrderBy("")
	limit := order + " LIMIT " + strconv.Itoa(LimitFor(p))
	from := " FROM " + l.Table + l.Conditions()
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
	// OFFSET 0 leaves a look-up of each row; a join could read the whole table.
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

// LimitFor is the number of rows that the query asks for: a row above the page size, to see whether a next page exists,
// and more for unusual sizes, so that few texts exist. The limit stands in the text: with a parameter, the planner
// would plan for a tenth of the table.
func LimitFor(p ports.Page) int {
	for _, step := range []int{1, 10, 25, 50} {
		if size(p) <= step {
			return step + 1
		}
	}
	return maxPerPage + 1
}

func size(p ports.Page) int { return max(1, min(p.Limit, maxPerPage)) }

// Listed is a row of a list.
type Listed[T any] struct {
	Item T
	Fits bool
	N    int
}

// Read runs a query over l.Rows and cuts the page; scan scans a row, whose last columns are fits and n, and place gives
// the sort key of an item. A row that cannot be read is told, and the page goes on without it.
func Read[T any](ctx context.Context, d pg.DB, l *List, p ports.Page, sql string,
	scan func(pgx.CollectableRow) (Listed[T], error), place func(T) ports.Cursor) (ports.List[T], error) {
	rows, err := pg.Read(ctx, d, scan, func(row *Listed[T], err error) {
		row.Fits = false
		d.Tell(ctx, l.Table, place(row.Item).ID, err)
	}, sql, l.Args...)
	if err != nil {
		return ports.List[T]{}, err
	}
	page := ports.List[T]{Items: make([]T, 0, min(len(rows), size(p)))}
	if p.Rows != nil && len(rows) > 0 {
		*p.Rows += rows[len(rows)-1].N
	}
	if l.Back {
		defer func() { slices.Reverse(page.Items) }()
	}
	for i, row := range rows {
		if len(page.Items) == size(p) { // more rows, of which this is the first
			page.Next = place(page.Items[size(p)-1])
			return page, nil
		}
		if row.Fits {
			page.Items = append(page.Items, row.Item)
		}
		if row.N == l.reads() || i+1 == LimitFor(p) { // the last that was asked for, though rows may be missing before it
			page.Next = place(row.Item)
		}
	}
	return page, nil
}
