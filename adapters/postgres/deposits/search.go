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

// Bounds of a search (ADR 0012). Where there is more, the text is frequent, and a page reads the list in its order.
const (
	maxFound    = 1000   // deposits of a reference, a booking or an address
	maxPeople   = 1500   // clients of a name
	maxNamed    = 4000   // deposits of these clients
	maxNames    = 16_000 // rows of client_names that begin with a word, while the other words are compared
	maxSized    = 4      // words that are counted, to begin with the rarest
	maxSearched = 2000   // rows of a page that compares the text with each deposit
)

// Ways in which a text names a deposit.
const (
	byReference = iota + 1
	byBooking
	byDigits
	byEmail
	byName
)

// search is what the indexes know about a text.
type search struct {
	ids      []id.ID // unless frequent, deposits in the order of the list: the page's, or all
	frequent bool
	ways     []int    // the ways in which the text names deposits
	patterns []string // of LIKE: each fits the words of a client whom the text names
}

// empty reports whether a page has no deposit, and none follows.
func (s *search) empty() bool { return !s.frequent && len(s.ids) == 0 }

// lowered is a text without the difference of cases, as the indexes of migration 00024 hold it.
func lowered(text string) string { return `lower(` + text + ` COLLATE "und-x-icu") COLLATE "C"` }

// between compares a text with the texts that begin with another: they are between the other, and the other with the
// last character of all.
func between(text, beginning string) string {
	return text + " >= " + beginning + " AND " + text + " <= " + beginning + ` || U&'\+10FFFF'`
}

func beginsWith(text, argument string) string {
	return between(lowered(text), lowered(argument+"::text"))
}

const (
	// as its index holds them
	bookingDigits = `(substr(rental_contract, length(rtrim(rental_contract, '0123456789')) + 1) COLLATE "C")`
	// Of the names n. Words hold neither %, _ nor a backslash, which are punctuation.
	nameFits = `' ' || n.words LIKE ALL `
)

var onlyDigits = regexp.MustCompile(`^[0-9]+$`)

// digitsOf is a text of digits as an argument; nil, which is equal to nothing, for any other.
func digitsOf(text string) any {
	if onlyDigits.MatchString(text) {
		return text
	}
	return nil
}

// The parts of a search: $1 is the account, $2 the text, $3 its digits, $4 the reference and $5 the beginnings of
// references that it may be.
var (
	// clientsNamed reads the names that begin with the rarest word, and keeps those with the other words, too. Counts end
	// at maxPeople. The rows of a word that has too many (wide) are counted, and not compared.
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

// names reads rows of client_names that begin with a word.
func names(columns string, limit int) string {
	return columns + ` FROM client_names n WHERE n.account_id = $1 AND ` + between("n.words", "word") + `
		ORDER BY n.words LIMIT ` + strconv.Itoa(limit)
}

// search looks a text up. Where nothing but the text narrows the list, the ids are those of the page; else they are
// all, since the other filters read their deposits.
func (s Desk) search(ctx context.Context, f depositports.DeskFilter, page ports.Page) (*search, error) {
	reference, _ := deposit.WrittenReference(f.Text)
	args := []any{f.AccountID, f.Text, digitsOf(f.Text), reference, deposit.ReferenceBeginnings(f.Text)}
	l := &lists.List{Order: []string{"created_at", "id"}, Back: page.Back}
	order, after := l.OrderBy(""), ""
	if len(f.Statuses) == 0 && f.Stay == (ports.Span{}) && !f.ByStay() {
		order += " LIMIT " + strconv.Itoa(lists.LimitFor(page))
		if !page.Cursor.IsZero() {
			args = append(args, page.Cursor.At, page.Cursor.ID)
			after = " AND (created_at, id) " + l.Beyond() + " ($6, $7)"
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

// indexPlans binds the plan of the statement behind it in the batch, whose transaction ends with the batch: the planner
// cannot know how frequent a text is, and would read all of its rows at once, or by parallel workers.
const indexPlans = `SELECT set_config(name, value, true) FROM (VALUES ('enable_seqscan', 'off'),
	('enable_bitmapscan', 'off'), ('enable_hashjoin', 'off'), ('enable_mergejoin', 'off'),
	('max_parallel_workers_per_gather', '0'), ('plan_cache_mode', 'force_generic_plan'), ('jit', 'off'))
	AS settings(name, value)`

// searchOf is the statement of a search.
func searchOf(after, order string) string {
	var found []string
	for way, sql := range soughtElsewhere {
		// Without DISTINCT, Postgres stops at the limit.
		found = append(found, `(SELECT `+strconv.Itoa(way)+` AS way, id, created_at FROM (`+sql+`) AS d LIMIT `+
			strconv.Itoa(maxFound+1)+`)`)
	}
	slices.Sort(found) // each text is planned once
	// In the order of the index, whose pages are then read once. A limit keeps the look-up of each client; a join could
	// read the whole table.
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

// fits compares a deposit with a frequent text, in the ways in which the text names any deposit.
func (s *search) fits(l *lists.List, text string) string {
	slices.Sort(s.ways)
	var any []string
	for _, way := range s.ways {
		switch way {
		case byReference:
			reference, _ := deposit.WrittenReference(text)
			any = append(any, "reference = "+l.Argument(reference)+" OR EXISTS (SELECT FROM unnest("+
				l.Argument(deposit.ReferenceBeginnings(text))+"::text[]) AS beginning WHERE starts_with(reference, beginning))")
		case byBooking:
			any = append(any, "rental_contract <> '' AND "+beginsWith("rental_contract", l.Argument(text)))
		case byDigits:
			any = append(any, "rental_contract <> '' AND "+between(bookingDigits, l.Argument(digitsOf(text))+"::text"))
		case byEmail: // not EXISTS, for which Postgres may read all clients first
			any = append(any, "(SELECT true FROM clients c WHERE c.id = client_id AND c.erased_at IS NULL AND "+
				beginsWith("c.email", l.Argument(text))+")")
		case byName: // all rows of a client have all of its words
			any = append(any, "(SELECT true FROM client_names n WHERE n.client_id = deposits.client_id AND "+nameFits+"("+
				l.Argument(s.patterns)+"::text[]) LIMIT 1)")
		}
	}
	return "(" + strings.Join(any, " OR ") + ")"
}
