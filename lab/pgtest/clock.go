package pgtest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// SkewDatabaseClock makes a test database's clock run ahead: a clock_timestamp in a schema of its own hides that
// of Postgres. Open connections end, since they use the old clock.
func SkewDatabaseClock(t testing.TB, databaseURL string, ahead time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), cleanupLimit)
	defer cancel()
	conn, err := pgx.Connect(ctx, databaseURL)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(ctx)) }()
	for _, statement := range []string{
		`CREATE SCHEMA IF NOT EXISTS wrong`,
		fmt.Sprintf(`CREATE OR REPLACE FUNCTION wrong.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS
			'SELECT pg_catalog.clock_timestamp() + interval ''%d ms'''`, ahead.Milliseconds()),
		`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, wrong, pg_catalog', current_database());
			END $$`,
		`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid()`,
	} {
		_, err := conn.Exec(ctx, statement)
		require.NoError(t, err, statement)
	}
}
