package pg

import (
	"strconv"
	"time"
)

// IntervalSQL returns an SQL interval of whole seconds, for a statement whose plan would change with a
// parameter.
func IntervalSQL(d time.Duration) string {
	return "interval '" + strconv.FormatInt(int64(d/time.Second), 10) + " seconds'"
}
