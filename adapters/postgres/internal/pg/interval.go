package pg

import (
	"strconv"
	"time"
)

// Interval returns an SQL interval of whole seconds, for the text of a statement whose plan would change with a
// parameter.
func Interval(d time.Duration) string {
	return "interval '" + strconv.FormatInt(int64(d/time.Second), 10) + " seconds'"
}
