package pgtest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// TurnClock sets how far the clock of a database is ahead, as on a machine without NTP: clock_timestamp of a schema of
// its own stands before that of Postgres. Open connections end, since they would go on with the clock as it was.
func TurnClock(t testing.TB, databaseURL string, ahead time.Duration) {
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
