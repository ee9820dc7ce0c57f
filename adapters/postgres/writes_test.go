package postgres_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/fault"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/storetest"
)

// someSession is a connection of somebody else.
func someSession(t *testing.T, pool *pgxpool.Pool, statements string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.ConnectConfig(t.Context(), pool.Config().ConnConfig)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(t.Context()) }) // the server may be gone
	_, err = conn.Exec(t.Context(), statements)
	require.NoError(t, err)
	return conn
}

func TestCheckWrites_TellsWhyNoChangeIsTaken(t *testing.T) {
	t.Parallel()
	t.Run("nothing is in the way, and nothing remains", func(t *testing.T) {
		t.Parallel()
		pool := pgtest.New(t)
		for range 3 {
			require.NoError(t, postgres.CheckWrites(t.Context(), pool))
		}
		require.EqualValues(t, 1, pool.Stat().TotalConns(), "the connection stays usable")
	})
	t.Run("behind a pooler", func(t *testing.T) {
		t.Parallel()
		pool := storetest.Pool(t, pgtest.Pooled(t, pgtest.URL(t)), postgres.PoolOptions{Pooled: true})
		require.NoError(t, postgres.CheckWrites(t.Context(), pool))
	})
	t.Run("read-only", func(t *testing.T) {
		t.Parallel()
		readOnly := map[string]string{"default_transaction_read_only": "on"}
		pool := storetest.Pool(t, pgtest.URL(t), postgres.PoolOptions{Settings: readOnly})
		require.ErrorIs(t, postgres.CheckWrites(t.Context(), pool), postgres.ErrReadOnly)
	})
	t.Run("a disk without room", func(t *testing.T) {
		t.Parallel()
		pool := storetest.Pool(t, pgtest.URL(t), postgres.PoolOptions{Settings: map[string]string{"temp_file_limit": "50kB"}})
		err := postgres.CheckWrites(t.Context(), pool)
		require.ErrorContains(t, err, "temporary file size exceeds", "the try writes to the disk")
		require.ErrorIs(t, err, fault.ErrUnavailable)
	})
	t.Run("a lock", func(t *testing.T) {
		t.Parallel()
		pool := pgtest.New(t)
		holder := someSession(t, pool, `BEGIN; LOCK TABLE deposits IN SHARE MODE`)
		require.ErrorIs(t, postgres.CheckWrites(t.Context(), pool), postgres.ErrLocked)
		_, err := holder.Exec(t.Context(), `ROLLBACK`)
		require.NoError(t, err)
		require.NoError(t, postgres.CheckWrites(t.Context(), pool))
	})
}

// The operator of a database learns whom to end: not the sessions that wait in the queue before the last.
func TestBlockers_NamesWhoHoldsTheLockAndWaitsForNobody(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	holder := someSession(t, pool, `SET application_name = 'index builder'; BEGIN; LOCK TABLE deposits
		IN SHARE MODE`)
	wait, ends := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	for _, statement := range []string{`LOCK TABLE deposits IN ACCESS EXCLUSIVE MODE`,
		`DELETE FROM deposits WHERE false`} {
		waiting.Go(func() { // ends with an error
			_, _ = pool.Exec(wait, "BEGIN; "+statement+"; ROLLBACK", pgx.QueryExecModeSimpleProtocol)
		})
	}
	defer waiting.Wait()
	defer ends()
	var found []postgres.Blocker
	require.Eventually(t, func() bool {
		var err error
		found, err = postgres.Blockers(t.Context(), pool, 0)
		return err == nil && len(found) == 1 && found[0].Waiting == 2
	}, 10*time.Second, time.Millisecond, "%v", &found)
	require.Equal(t, int(holder.PgConn().PID()), found[0].PID)
	require.Equal(t, "index builder", found[0].Application)
	require.Equal(t, "idle in transaction", found[0].State)
	require.Contains(t, found[0].Query, "LOCK TABLE deposits IN SHARE MODE", "in one line")
	require.Positive(t, found[0].Open)

	found, err := postgres.Blockers(t.Context(), pool, time.Hour)
	require.NoError(t, err)
	require.Empty(t, found, "transactions of moments")
}
