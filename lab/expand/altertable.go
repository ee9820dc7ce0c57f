package expand

import (
	"slices"
	"strings"
)

func (r *review) alterTable(c cursor) {
	c.take("if", "exists")
	c.take("only")
	table := c.name()
	for _, action := range parts(c.rest) {
		if !has(action, "validate", "constraint") {
			r.locksTable(table)
		}
		if !r.made[table] {
			r.action(table, cursor{action})
		}
	}
}

// gentle lists ALTER TABLE actions that are always allowed: they touch no row and take nothing away.
var gentle = [][]string{
	{"set", "("}, {"reset", "("}, {"enable", "trigger"}, {"replica", "identity"}, {"inherit"},
}

func (r *review) action(table string, c cursor) {
	switch {
	case c.take("add"):
		r.add(table, c)
	case c.take("validate", "constraint"):
		r.validate(table, c.name())
	case c.take("drop", "constraint"):
		c.take("if", "exists")
		r.dropConstraint(table, c.name())
	case c.take("drop"):
		r.breaks("an older binary needs the column")
	case c.take("rename"), c.take("set", "schema"):
		r.breaks("an older binary knows the old name alone: add the new beside the old")
	case c.take("alter"):
		c.take("column")
		r.alterColumn(table, c.name(), c)
	case c.take("disable"):
		r.breaks("an older binary relies on the trigger")
	default:
		for _, words := range gentle {
			if c.take(words...) {
				return
			}
		}
		r.refuse("the check does not know this action of ALTER TABLE: write another, or teach package lab/expand that it is safe")
	}
}

func (r *review) alterColumn(table, column string, c cursor) {
	switch {
	case c.take("set", "not", "null"):
		if !r.validated[table+"."+column] {
			r.refuse("every row is read under a lock: before, ADD CONSTRAINT … CHECK (" + column +
				" IS NOT NULL) NOT VALID, and VALIDATE CONSTRAINT in a migration of its own")
		}
	case c.take("type"), c.take("set", "data", "type"):
		r.refuse("the table is written anew under a lock: add a column of the new type, and fill it in pieces")
	case c.take("drop", "default"):
		r.breaks("an INSERT of an older binary does not name the column")
	case c.take("add", "generated"), c.take("drop", "expression"), c.take("drop", "identity"), c.take("set", "expression"):
		r.refuse("the check does not know this change of a column: add a column instead")
	case c.take("set"), c.take("reset"), c.take("drop", "not", "null"):
		// A column's default, statistics and storage may change, and NOT NULL may be dropped.
	default:
		r.refuse("the check does not know this change of a column: add a column instead")
	}
}

func (r *review) validate(table, constraint string) {
	if !r.concurrent {
		r.refuse("rows are read while the locks of the transaction last: VALIDATE CONSTRAINT in a migration with " +
			"+goose NO TRANSACTION")
	}
	if column := r.notNull[table+"."+constraint]; column != "" {
		r.validated[column] = true
	}
}

func (r *review) dropConstraint(table, constraint string) {
	r.dropped[table+"."+constraint] = true
	for _, ending := range []string{"_key", "_pkey", "_excl"} {
		if strings.HasSuffix(constraint, ending) {
			r.breaks("an older binary relies on the constraint, in ON CONFLICT for one")
		}
	}
}

func (r *review) add(table string, c cursor) {
	name := ""
	if c.take("constraint") {
		name = c.name()
	} else if !hasAny(c.rest[:min(1, len(c.rest))], "check", "unique", "primary", "foreign", "exclude") {
		c.take("column")
		c.take("if", "not", "exists")
		column := c.name()
		r.added[table+"."+column] = true
		r.addColumn(c.rest)
		return
	}
	r.addConstraint(table, name, c.rest)
}

// addColumn refuses a new column that would rewrite or read every row.
func (r *review) addColumn(definition []token) {
	properties := outside(definition)
	switch {
	case hasAny(properties, "serial", "bigserial", "smallserial", "generated"):
		r.refuse("every row is written anew under a lock: add the column without values, and fill it in pieces")
	case hasAny(properties, "check", "unique", "primary", "references"):
		r.refuse("every row is read under a lock: give the column its constraint by ADD CONSTRAINT … NOT VALID, " +
			"or a unique index by CREATE UNIQUE INDEX CONCURRENTLY")
	case !has(properties, "default"):
		if has(properties, "not", "null") {
			r.refuse("an INSERT of an older binary does not name the column: NOT NULL needs a constant DEFAULT")
		}
	case !constant(definition):
		r.refuse("the default is computed for each row, so every row is written anew under a lock: " +
			"a constant, or ALTER COLUMN … SET DEFAULT after the column was added")
	}
}

// constant reports whether a column's default calls no function but now().
func constant(definition []token) bool {
	i := slices.IndexFunc(definition, func(t token) bool { return t.is("default") })
	value := definition[i+1:]
	for i, t := range value {
		calls := t.kind == word && i+1 < len(value) && value[i+1].is("(")
		isType := i > 0 && value[i-1].is("::")
		if calls && !isType && !t.is("now") {
			return false
		}
	}
	return true
}

func (r *review) addConstraint(table, name string, definition []token) {
	if !has(definition, "not", "valid") && !has(definition, "using", "index") {
		r.refuse("every row is read, or an index built, under a lock: ADD CONSTRAINT … NOT VALID and VALIDATE CONSTRAINT in a " +
			"migration of its own, or CREATE UNIQUE INDEX CONCURRENTLY and ADD CONSTRAINT … USING INDEX")
	}
	if c := (cursor{definition}); c.take("check", "(") {
		if column := c.name(); c.take("is", "not", "null", ")") {
			r.notNull[table+"."+name] = table + "." + column
		}
	}
	onNewColumn := slices.ContainsFunc(definition, func(t token) bool { return r.added[table+"."+t.text] })
	if !onNewColumn && !r.dropped[table+"."+name] && !has(definition, "using", "index") {
		r.breaks("an older binary may write rows that the constraint refuses")
	}
}
