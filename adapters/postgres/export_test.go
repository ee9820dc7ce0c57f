package postgres

import "context"

// ReadsWaiting counts the reads of deposits whose batch has not started.
func (s *Store) ReadsWaiting() int { return s.reads.queue.Waiting("") }

// ReadReports is the statement of Store.Reports.
var ReadReports = readReports

// Query reads a row with a connection of the store.
func (s *Store) Query(ctx context.Context, sql string, into ...any) error {
	return s.db.QueryRow(ctx, sql).Scan(into...)
}
