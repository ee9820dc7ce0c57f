package pg

import (
	"strconv"
	"time"
)

// Interval writes whole seconds into the text of a statement whose plan a parameter would change.
func Interval(d time.Duration) string {
	return "interval '" + strconv.FormatInt(int64(d/time.Second), 10) + " seconds'"
}
