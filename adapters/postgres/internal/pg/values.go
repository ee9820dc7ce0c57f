package pg

import (
	"strconv"
	"time"
)

func OrDefault[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}

// OrZero returns the value behind a pointer, or the zero value for nil, which stands for NULL.
func OrZero[T any](v *T) (zero T) {
	if v == nil {
		return zero
	}
	return *v
}

// OrEmptySlice returns an empty slice instead of nil, which Postgres would store as NULL.
func OrEmptySlice[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// OrEmptyMap returns an empty map instead of nil, which Postgres would store as NULL.
func OrEmptyMap(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

func ConvertEach[A, B any](in []A, convert func(A) B) []B {
	out := make([]B, len(in))
	for i, a := range in {
		out[i] = convert(a)
	}
	return out
}

// RequireRowChanged returns a function that returns sentinel if a statement changed 0 rows.
func RequireRowChanged(sentinel error) func(rows int64, err error) error {
	return func(rows int64, err error) error {
		if err == nil && rows == 0 {
			return sentinel
		}
		return err
	}
}

// FormatMillis formats a duration as the whole milliseconds that a Postgres setting expects.
func FormatMillis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
