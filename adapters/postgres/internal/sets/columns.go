package sets

import (
	"strconv"
	"strings"

	"partnerdeposits/adapters/postgres/internal/pg"
)

// Column is a column of a table, with its values for a set of rows.
type Column[T any] struct {
	Name   string
	Array  string // The Postgres type of the array parameter that holds the column's values, such as uuid[].
	Cast   string // A cast of the column's values such as ::jsonb, for a type that has no array parameter.
	Values func([]T) any
}

// ColumnValuesFunc returns a function that collects the values of a column from rows. value returns the
// column's value in one row.
func ColumnValuesFunc[T, V any](value func(T) V) func([]T) any {
	return func(rows []T) any { return pg.ConvertEach(rows, value) }
}

func ColumnNames[T any](columns []Column[T]) string {
	return strings.Join(pg.ConvertEach(columns, func(c Column[T]) string { return c.Name }), ", ")
}

// SelectColumns returns the columns of the set of rows n, each with its cast, for a SELECT.
func SelectColumns[T any](columns []Column[T]) string {
	return strings.Join(pg.ConvertEach(columns, func(c Column[T]) string { return "n." + c.Name + c.Cast }), ", ")
}

// FromClause returns the FROM item that makes the set of rows n from the arrays of the first parameters.
func FromClause[T any](columns []Column[T]) string {
	arrays := make([]string, len(columns))
	for i, c := range columns {
		arrays[i] = "$" + strconv.Itoa(i+1) + "::" + c.Array
	}
	return "unnest(" + strings.Join(arrays, ", ") + ") AS n(" + ColumnNames(columns) + ")"
}

// ArrayArguments returns the arguments of a statement about a set of rows: an array for each column, then more.
func ArrayArguments[T any](columns []Column[T], rows []T, more ...any) []any {
	args := make([]any, 0, len(columns)+len(more))
	for _, c := range columns {
		args = append(args, c.Values(rows))
	}
	return append(args, more...)
}

// ExtraParam returns the placeholder, such as $4, of the n-th parameter after the arrays; n begins with 1.
func ExtraParam[T any](columns []Column[T], n int) string { return "$" + strconv.Itoa(len(columns)+n) }
