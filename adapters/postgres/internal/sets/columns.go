package sets

import (
	"strconv"
	"strings"
)

// column is a column that a statement writes.
type column[T any] struct {
	name   string
	array  string // the type of the parameter that carries the values, such as uuid[]
	cast   string // for a type that no array parameter carries, such as ::jsonb
	values func([]T) any
}

// of takes a column's values from the rows of a set.
func of[T, V any](value func(T) V) func([]T) any {
	return func(rows []T) any { return each(rows, value) }
}

// names lists the columns, separated by commas.
func names[T any](columns []column[T]) string {
	return strings.Join(each(columns, func(c column[T]) string { return c.name }), ", ")
}

// selected lists the columns of the set n with their casts, separated by commas.
func selected[T any](columns []column[T]) string {
	return strings.Join(each(columns, func(c column[T]) string { return "n." + c.name + c.cast }), ", ")
}

// from is the FROM item that makes the set n of arrays, which are the statement's first parameters.
func from[T any](columns []column[T]) string {
	arrays := make([]string, len(columns))
	for i, c := range columns {
		arrays[i] = "$" + strconv.Itoa(i+1) + "::" + c.array
	}
	return "unnest(" + strings.Join(arrays, ", ") + ") AS n(" + names(columns) + ")"
}

// arguments are the arrays of from.
func arguments[T any](columns []column[T], rows []T, more ...any) []any {
	args := make([]any, 0, len(columns)+len(more))
	for _, c := range columns {
		args = append(args, c.values(rows))
	}
	return append(args, more...)
}

// param is the n-th parameter after the arrays of from, counted from 1.
func param[T any](columns []column[T], n int) string { return "$" + strconv.Itoa(len(columns)+n) }
