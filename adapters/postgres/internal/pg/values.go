package pg

import (
	"strconv"
	"time"
)

// OrDefault replaces a zero value.
func OrDefault[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}

// OrZero replaces nil, which is NULL.
func OrZero[T any](v *T) (zero T) {
	if v == nil {
		return zero
	}
	return *v
}

// OrEmpty replaces nil, which would be NULL, by an empty slice.
func OrEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// OrNoPairs replaces nil, which would be NULL, by an empty map.
func OrNoPairs(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// Each converts a slice.
func Each[A, B any](in []A, convert func(A) B) []B {
	out := make([]B, len(in))
	for i, a := range in {
		out[i] = convert(a)
	}
	return out
}

// Changed returns sentinel for a statement that changed no row.
func Changed(sentinel error) func(rows int64, err error) error {
	return func(rows int64, err error) error {
		if err == nil && rows == 0 {
			return sentinel
		}
		return err
	}
}

// Millis is a duration as Postgres's settings take it.
func Millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
