package postgres

import "context"

// Query reads a row with a connection of the store.
func (s *Store) Query(ctx context.Context, sql string, into ...any) error {
	return s.base.DB.QueryRow(ctx, sql).Scan(into...)
}
