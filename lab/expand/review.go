package expand

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// history holds what earlier migrations have established about columns and tables.
type history struct {
	// Constraints of the form CHECK (column IS NOT NULL): "table.constraint" → "table.column".
	notNull map[string]string
	// Columns, as "table.column", that hold no null.
	validated map[string]bool
	parted    map[string]bool // Partitioned tables, which themselves have no rows.
}

// review is the state of the check of one migration.
type review struct {
	history
	migration  Migration
	statements [][]token
	// Whether the migration runs outside a transaction, so that its waits for locks have no bound.
	concurrent bool
	// Whether a comment of the migration gives a reason for SQL that it composes.
	dynamic  bool
	contract bool
	// What the migration creates: tables by name, others as "index x" or "trigger x".
	made map[string]bool
	// What the migration has dropped so far, as "index x" or "table.constraint".
	dropped map[string]bool
	// Columns that the migration has added so far, as "table.column".
	added   map[string]bool
	current []token
	// Whether only the migration's "contract" comment allowed a statement.
	broke    bool
	problems []MigrationProblem
}

func newReview(m Migration, seen history) *review {
	sql := up(m.SQL)
	r := &review{history: seen, migration: m, statements: statements(sql),
		concurrent: strings.Contains(m.SQL, "+goose NO TRANSACTION"),
		dynamic:    regexp.MustCompile(`(?m)^\s*-- dynamic: \S`).MatchString(sql),
		made:       map[string]bool{}, dropped: map[string]bool{}, added: map[string]bool{}}
	for _, s := range r.statements {
		if c := (cursor{s}); c.take("create") {
			c.takeAny("or", "replace", "unlogged", "unique", "constraint")
			object := c.name()
			c.takeAny("concurrently", "if", "not", "exists")
			if name := c.name(); object == "table" {
				r.made[name] = true
				r.parted[name] = has(outside(s), "partition", "by")
			} else {
				r.made[object+" "+name] = true
			}
		}
	}
	return r
}

func (r *review) run(known []string) {
	r.readContract(known)
	for _, r.current = range r.statements {
		r.statement(cursor{r.current})
	}
	r.current = nil
	if r.contract && !r.broke {
		r.refuse("no statement needs the contract line: remove the line")
	}
}

func (r *review) refuse(why string) {
	r.problems = append(r.problems, MigrationProblem{r.migration.Name, brief(r.current), why})
}

// breaks refuses a statement that takes away what an older binary needs, unless the migration has a "contract"
// comment.
func (r *review) breaks(why string) {
	r.broke = true
	if !r.contract {
		r.refuse(why + "; once a release does without, say so: -- contract: <what> unused since <release>")
	}
}

var (
	contractLine = regexp.MustCompile(`(?m)^\s*-- contract:.*$`)
	contractForm = regexp.MustCompile(`^-- contract: \S.* unused since (\S+)$`)
)

func (r *review) readContract(known []string) {
	for _, line := range contractLine.FindAllString(up(r.migration.SQL), -1) {
		form := contractForm.FindStringSubmatch(strings.TrimSpace(line))
		switch {
		case form == nil:
			r.refuse("the form of the line is -- contract: <what> unused since <release>")
		case !slices.Contains(known, form[1]):
			r.refuse(fmt.Sprintf("the contract line names the release %q, which releases.txt does not have: "+
				"contract only after a release that does without", form[1]))
		default:
			r.contract = true
		}
	}
}

// harmless lists SQL statements that are always allowed: they lock no table for long and take nothing away.
var harmless = [][]string{
	{"create", "table"}, {"create", "unlogged", "table"}, {"create", "sequence"}, {"create", "type"}, {"create", "domain"},
	{"create", "function"}, {"create", "or", "replace", "function"}, {"create", "procedure"},
	{"create", "or", "replace", "procedure"}, {"create", "view"}, {"create", "or", "replace", "view"},
	{"create", "extension"}, {"create", "collation"}, {"create", "statistics"}, {"create", "aggregate"},
	{"alter", "sequence"}, {"comment", "on"}, {"grant"}, {"analyze"}, {"vacuum"}, {"select"},
}

func (r *review) statement(c cursor) {
	switch {
	case c.take("alter", "table"):
		r.alterTable(c)
	case c.take("create", "index"):
		r.createIndex(c, false)
	case c.take("create", "unique", "index"):
		r.createIndex(c, true)
	case c.take("create", "trigger"), c.take("create", "or", "replace", "trigger"),
		c.take("create", "constraint", "trigger"):
		r.createTrigger(c)
	case c.take("drop"):
		r.drop(c)
	case c.take("alter", "index"):
		c.take("if", "exists")
		c.name()
		if !c.take("attach", "partition") {
			r.breaks("an older binary may know the index by its name")
		}
	case c.take("alter", "type"):
		if !has(c.rest, "add", "value") {
			r.breaks("an older binary knows the type as it was")
		}
	case c.take("truncate"):
		r.breaks("an older binary needs the rows")
	case c.take("insert", "into"), c.take("update"), c.take("delete", "from"), c.take("with"):
		r.write(c)
	case c.take("do"):
		r.do(c)
	default:
		for _, words := range harmless {
			if c.take(words...) {
				return
			}
		}
		r.refuse("the check does not know this statement: write another, or teach package lab/expand that it is safe")
	}
}

func (r *review) createIndex(c cursor, unique bool) {
	concurrently := c.take("concurrently")
	c.take("if", "not", "exists")
	name := ""
	if !c.take("on") {
		name = c.name()
		c.take("on")
	}
	only := c.take("only")
	table := c.name()
	if r.made[table] || (only && r.parted[table]) {
		return
	}
	switch {
	case !concurrently:
		r.refuse("writes wait while the index is built: CREATE INDEX CONCURRENTLY in a migration with +goose NO TRANSACTION")
	case !r.concurrent:
		r.refuse("CONCURRENTLY needs a migration with +goose NO TRANSACTION")
	case !r.dropped["index "+name]:
		r.refuse("an interrupted run leaves an invalid index: first DROP INDEX CONCURRENTLY IF EXISTS of the same name")
	}
	if unique {
		r.breaks("an older binary may write rows that the index refuses")
	}
}

func (r *review) createTrigger(c cursor) {
	c.name()
	for len(c.rest) > 0 && !c.take("on") {
		c.rest = c.rest[1:]
	}
	r.locksTable(c.name())
}

// locksTable refuses to lock an existing table outside a transaction, where the wait has no bound.
func (r *review) locksTable(table string) {
	if r.concurrent && !r.made[table] {
		r.refuse("without a transaction the wait for the lock has no bound, and requests queue behind it: " +
			"move the statement to a migration with a transaction")
	}
}

func (r *review) drop(c cursor) {
	object := c.name()
	concurrently := c.take("concurrently")
	c.take("if", "exists")
	name := c.name()
	r.dropped[object+" "+name] = true
	if object != "index" || !concurrently {
		r.locksTable("")
	}
	if r.made[object+" "+name] || (object == "table" && r.made[name]) {
		// A trigger or index may be dropped in a migration that creates it again.
		return
	}
	if object == "index" {
		r.breaks("statements of an older binary may need the index")
		return
	}
	r.breaks(fmt.Sprintf("an older binary needs the %s", object))
}

// write checks INSERT, UPDATE, DELETE and WITH statements.
func (r *review) write(c cursor) {
	verb := r.current[0].text
	switch {
	case verb == "with" && !writes(c.rest), r.made[c.name()] && verb != "insert", has(c.rest, "limit"):
	case verb == "insert" || (verb == "with" && !hasAny(c.rest, "update", "delete")):
		if !r.concurrent && has(c.rest, "from") {
			r.refuse("a copy of a table in a transaction keeps its locks for long: " +
				"copy in pieces, in a migration with +goose NO TRANSACTION")
		}
	default:
		r.refuse("a single statement over a table locks all its rows until it ends: change the rows in pieces, " +
			"with a DO block that commits in a LOOP, in a migration with +goose NO TRANSACTION")
	}
}

func writes(tokens []token) bool { return hasAny(tokens, "insert", "update", "delete", "merge") }

// do checks the words of an anonymous block (DO).
func (r *review) do(c cursor) {
	var body []token
	for _, t := range c.rest {
		if t.kind == text {
			body = slices.Concat(statements(t.text)...)
		}
	}
	if has(body, "execute") && !r.dynamic {
		r.refuse("the check cannot read SQL that EXECUTE composes: say why it is safe, in a line -- dynamic: <reason>")
	}
	if hasAny(body, "alter", "drop", "create", "truncate") {
		r.refuse("write statements about the schema outside DO, where the check reads them")
	}
	if writes(body) && (!r.concurrent || !has(body, "commit") || !has(body, "loop")) {
		r.refuse("a block that writes holds its locks until it ends: COMMIT in a LOOP, " +
			"in a migration with +goose NO TRANSACTION")
	}
}
