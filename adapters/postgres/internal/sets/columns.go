package sets

import (
	"strconv"
	"strings"

	"partnerdeposits/adapters/postgres/internal/pg"
)

// Column is a column that a statement writes.
type Column[T any] struct {
	Name   string
	Array  string // the type of the parameter that carries the values, such as uuid[]
	Cast   string // for a type that no array parameter carries, such as ::jsonb
	Values func([]T) any
}

// Of takes a column's values from the rows of a set.
func Of[T, V any](value func(T) V) func([]T) any {
	return func(rows []T) any { return pg.Each(rows, value) }
}

// Names lists the columns, separated by commas.
func Names[T any](columns []Column[T]) string {
	return strings.Join(pg.Each(columns, func(c Column[T]) string { return c.Name }), ", ")
}

// Selected lists the columns of the set n with their casts, separated by commas.
func Selected[T any](columns []Column[T]) string {
	return strings.Join(pg.Each(columns, func(c Column[T]) string { return "n." + c.Name + c.Cast }), ", ")
}

// From is the FROM item that makes the set n of arrays, which are the statement's first parameters.
func From[T any](columns []Column[T]) string {
	arrays := make([]string, len(columns))
	for i, c := range columns {
		arrays[i] = "$" + strconv.Itoa(i+1) + "::" + c.Array
	}
	return "unnest(" + strings.Join(arrays, ", ") + ") AS n(" + Names(columns) + ")"
}

// Arguments are the arrays of From.
func Arguments[T any](columns []Column[T], rows []T, more ...any) []any {
	args := make([]any, 0, len(columns)+len(more))
	for _, c := range columns {
		args = append(args, c.Values(rows))
	}
	return append(args, more...)
}

// Param is the n-th parameter after the arrays of From, counted from 1.
func Param[T any](columns []Column[T], n int) string { return "$" + strconv.Itoa(len(columns)+n) }
