package deposits

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/lists"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

// Bounds of a search for deposits (ADR 0012). Beyond them the text is frequent, and a page compares the
// deposits of the list with it one by one.
const (
	maxFound  = 1000 // The most deposits that a search finds by a reference, a booking or an e-mail address.
	maxPeople = 1500 // The most clients that a search finds by a name.
	maxNamed  = 4000 // The most deposits that a search finds by the names of their clients.
	// The most rows of client_names that begin with one searched word and are compared with the other words.
	maxNames = 16_000
	// The most words of a searched text whose rows are counted, so that the search can begin with the rarest word.
	maxSized    = 4
	maxSearched = 2000 // The most deposits that a page of the list compares with the searched text.
)

// Ways in which a searched text can identify a deposit.
const (
	byReference = iota + 1
	byBooking
	byDigits
	byEmail
	byName
)

// search is the result of looking up an operator's searched text in the indexes of deposits.
type search struct {
	// Ids of the deposits that the search found, in the order of the list. None if the searched text is frequent.
	ids      []id.ID
	frequent bool
	// The ways in which the searched text identifies deposits.
	ways []int
	// Patterns for LIKE that all match the words of a client whose name the searched text contains.
	patterns []string
}

// empty reports whether the search found no deposit for any page.
func (s *search) empty() bool { return !s.frequent && len(s.ids) == 0 }

// lowered returns the SQL of a text in lower case, as the indexes of migration 00024 contain it.
func lowered(text string) string { return `lower(` + text + ` COLLATE "und-x-icu") COLLATE "C"` }

// between returns the SQL condition that a text begins with another text.
func between(text, beginning string) string {
	return text + " >= " + beginning + " AND " + text + " <= " + beginning + ` || U&'\+10FFFF'`
}

func beginsWith(text, argument string) string {
	return between(lowered(text), lowered(argument+"::text"))
}

const (
	// SQL of the digits at the end of a booking number, in the form in which their index contains them.
	bookingDigits = `(substr(rental_contract, length(rtrim(rental_contract, '0123456789')) + 1) COLLATE "C")`
	// SQL of the condition that a client's name n matches all patterns.
	nameFits = `' ' || n.words LIKE ALL `
)

var onlyDigits = regexp.MustCompile(`^[0-9]+$`)

// digitsOf returns a text of digits as an SQL argument; NULL for any other text.
func digitsOf(text string) any {
	if onlyDigits.MatchString(text) {
		return text
	}
	return nil
}

// SQL of the parts of a search: $1 is the account, $2 the text, $3 its digits, $4 the reference, and $5 the
// beginnings of references that the text may be.
var (
	// clientsNamed is the SQL of the clients whose names contain the searched words, found by the rarest. A word
	// with too many rows (wide) is only counted.
	clientsNamed = `asked AS MATERIALIZED (SELECT searched_words($2) AS words),
	sized AS MATERIALIZED (
		SELECT word, CASE WHEN cardinality(words) > 1 THEN (SELECT count(*) FROM (` + names("SELECT", maxPeople+1) + `)
			AS counted) ELSE 0 END AS size
		FROM asked, unnest(words[:` + strconv.Itoa(maxSized) + `]) AS word),
	rarest AS MATERIALIZED (
		SELECT word, size,
			ARRAY (SELECT '% ' || other || '%' FROM asked, unnest(words) AS other WHERE other <> word) AS others
		FROM sized ORDER BY size LIMIT 1),
	wide AS MATERIALIZED (SELECT CASE WHEN size > ` + strconv.Itoa(maxPeople) + ` THEN EXISTS (` + names("SELECT", 1) +
		` OFFSET ` + strconv.Itoa(maxNames) + `) ELSE false END AS wide FROM rarest),
	people AS MATERIALIZED (
		SELECT n.client_id FROM rarest CROSS JOIN LATERAL (` + names("SELECT n.client_id, n.words", maxNames) + `) AS n
		WHERE NOT (SELECT wide FROM wide) AND ` + nameFits + `(others) LIMIT ` + strconv.Itoa(maxPeople+1) + `),
	known AS MATERIALIZED (SELECT coalesce((SELECT wide FROM wide), false) OR
		(SELECT count(*) FROM people) > ` + strconv.Itoa(maxPeople) + ` AS many)`
	soughtElsewhere = map[int]string{
		byReference: `SELECT d.id, d.created_at FROM deposits d WHERE d.reference = $4 AND d.account_id = $1
			UNION ALL SELECT d.id, d.created_at FROM unnest($5::text[]) AS beginning CROSS JOIN LATERAL (
				SELECT id, created_at, account_id FROM deposits WHERE reference ~>=~ beginning
				AND reference ~<=~ (beginning || U&'\+10FFFF') OFFSET 0) AS d WHERE d.account_id = $1`,
		byBooking: `SELECT d.id, d.created_at FROM deposits d WHERE d.account_id = $1 AND d.rental_contract <> '' AND ` +
			beginsWith("d.rental_contract", "$2"),
		byDigits: `SELECT id, created_at FROM deposits WHERE account_id = $1 AND rental_contract <> '' AND ` +
			between(bookingDigits, "$3::text"),
		byEmail: `SELECT d.id, d.created_at FROM clients c JOIN deposits d ON d.client_id = c.id
			WHERE c.account_id = $1 AND c.erased_at IS NULL AND ` + beginsWith("c.email", "$2") + ` AND d.account_id = $1`,
	}
)

func names(columns string, limit int) string {
	return columns + ` FROM client_names n WHERE n.account_id = $1 AND ` + between("n.words", "word") + `
		ORDER BY n.words LIMIT ` + strconv.Itoa(limit)
}

// search looks a text up in the indexes. The ids are those of a page, or all if another filter narrows the
// list.
func (s DashboardQueries) search(ctx context.Context, f depositports.DashboardFilter, page ports.Page) (*search,
	error) {
	reference, _ := deposit.ParseReference(f.Text)
	args := []any{f.AccountID, f.Text, digitsOf(f.Text), reference, deposit.ReferencePrefixes(f.Text)}
	l := &lists.PageQuery{Order: []string{"created_at", "id"}, Back: page.Back}
	order, after := l.OrderBy(""), ""
	if len(f.Statuses) == 0 && f.Stay == (ports.TimeSpan{}) && !f.SortedByStay() {
		order += " LIMIT " + strconv.Itoa(lists.PageQueryLimit(page))
		if !page.Cursor.IsZero() {
			args = append(args, page.Cursor.At, page.Cursor.ID)
			after = " AND (created_at, id) " + l.CursorOperator() + " ($6, $7)"
		}
	}
	found, many := &search{}, false
	batch := &pgx.Batch{}
	batch.Queue(indexPlans)
	batch.Queue(searchOf(after, order), args...).QueryRow(func(row pgx.Row) error {
		return row.Scan(&found.ids, &found.ways, &found.frequent, &many, &found.patterns)
	})
	if err := s.DB.SendBatch(ctx, batch); err != nil {
		return nil, err
	}
	if many {
		found.ways, found.frequent = append(found.ways, byName), true
	}
	return found, nil
}

// indexPlans makes the next statement of its batch use indexes: the planner cannot estimate how frequent a text
// is.
const indexPlans = `SELECT set_config(name, value, true) FROM (VALUES ('enable_seqscan', 'off'),
	('enable_bitmapscan', 'off'), ('enable_hashjoin', 'off'), ('enable_mergejoin', 'off'),
	('max_parallel_workers_per_gather', '0'), ('plan_cache_mode', 'force_generic_plan'), ('jit', 'off'))
	AS settings(name, value)`

func searchOf(after, order string) string {
	var found []string
	for way, sql := range soughtElsewhere {
		// With DISTINCT, Postgres would not stop searching at the limit of found deposits.
		found = append(found, `(SELECT `+strconv.Itoa(way)+` AS way, id, created_at FROM (`+sql+`) AS d LIMIT `+
			strconv.Itoa(maxFound+1)+`)`)
	}
	// Sorted parts keep the text of the search statement the same, so that it is planned once.
	slices.Sort(found)
	// Read clients in the order of the index. The LIMIT makes Postgres look each client's deposits up instead of
	// reading the table.
	found = append(found, `(SELECT `+strconv.Itoa(byName)+` AS way, d.id, d.created_at
		FROM (SELECT DISTINCT client_id FROM people ORDER BY client_id) AS p CROSS JOIN LATERAL (
		SELECT id, created_at FROM deposits WHERE client_id = p.client_id`+after+`
		ORDER BY created_at DESC, id DESC LIMIT `+strconv.Itoa(maxNamed+1)+`) AS d
		WHERE NOT (SELECT many FROM known) LIMIT `+strconv.Itoa(maxNamed+1)+`)`)
	return `WITH ` + clientsNamed + `, found AS MATERIALIZED (` + strings.Join(found, " UNION ALL ") + `),
		counted AS MATERIALIZED (SELECT way, count(*) AS n FROM found GROUP BY way)
		SELECT ARRAY (SELECT id FROM (SELECT DISTINCT created_at, id FROM found WHERE true` + after +
		`) AS page` + order + `),
		ARRAY (SELECT way FROM counted), EXISTS (SELECT FROM counted WHERE n > CASE way WHEN ` + strconv.Itoa(byName) +
		` THEN ` + strconv.Itoa(maxNamed) + ` ELSE ` + strconv.Itoa(maxFound) + ` END),
		(SELECT many FROM known), ARRAY (SELECT '% ' || word || '%' FROM asked, unnest(words) AS word)`
}

// fits returns the SQL condition that a deposit matches a frequent text, by the facts through which the indexes
// found any.
func (s *search) fits(l *lists.PageQuery, text string) string {
	slices.Sort(s.ways)
	var any []string
	for _, way := range s.ways {
		switch way {
		case byReference:
			reference, _ := deposit.ParseReference(text)
			any = append(any, "reference = "+l.AddArgument(reference)+" OR EXISTS (SELECT FROM unnest("+
				l.AddArgument(deposit.ReferencePrefixes(text))+"::text[]) AS beginning WHERE starts_with(reference, beginning))")
		case byBooking:
			any = append(any, "rental_contract <> '' AND "+beginsWith("rental_contract", l.AddArgument(text)))
		case byDigits:
			any = append(any, "rental_contract <> '' AND "+between(bookingDigits, l.AddArgument(digitsOf(text))+"::text"))
		// The client is read by a subquery: for EXISTS, Postgres may read all clients first.
		case byEmail:
			any = append(any, "(SELECT true FROM clients c WHERE c.id = client_id AND c.erased_at IS NULL AND "+
				beginsWith("c.email", l.AddArgument(text))+")")
		// One row of the client's names is enough, since each row has all words of the name.
		case byName:
			any = append(any, "(SELECT true FROM client_names n WHERE n.client_id = deposits.client_id AND "+nameFits+"("+
				l.AddArgument(s.patterns)+"::text[]) LIMIT 1)")
		}
	}
	return "(" + strings.Join(any, " OR ") + ")"
}
