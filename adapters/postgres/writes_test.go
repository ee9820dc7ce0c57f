package postgres_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/migrations"
	"partnerdeposits/core/fault"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/storetest"
)

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
		pool := storetest.NewPool(t, pgtest.PgBouncerURL(t, pgtest.NewDatabaseURL(t)), postgres.PoolOptions{Pooled: true})
		require.NoError(t, postgres.CheckWrites(t.Context(), pool))
	})
	t.Run("read-only", func(t *testing.T) {
		t.Parallel()
		readOnly := map[string]string{"default_transaction_read_only": "on"}
		pool := storetest.NewPool(t, pgtest.NewDatabaseURL(t), postgres.PoolOptions{Settings: readOnly})
		err := postgres.CheckWrites(t.Context(), pool)
		require.ErrorIs(t, err, postgres.ErrReadOnly)
		require.Equal(t, "read_only", postgres.WriteFailureCause(err))
	})
	t.Run("a disk without room", func(t *testing.T) {
		t.Parallel()
		pool := storetest.NewPool(t, pgtest.NewDatabaseURL(t),
			postgres.PoolOptions{Settings: map[string]string{"temp_file_limit": "50kB"}})
		err := postgres.CheckWrites(t.Context(), pool)
		require.ErrorContains(t, err, "temporary file size exceeds", "the try writes to the disk")
		require.ErrorIs(t, err, fault.ErrUnavailable)
	})
	t.Run("a lock", func(t *testing.T) {
		t.Parallel()
		pool := pgtest.New(t)
		holder := someSession(t, pool, `BEGIN; LOCK TABLE deposits IN SHARE MODE`)
		err := postgres.CheckWrites(t.Context(), pool)
		require.ErrorIs(t, err, postgres.ErrLocked)
		require.Equal(t, "lock", postgres.WriteFailureCause(err))
		_, err = holder.Exec(t.Context(), `ROLLBACK`)
		require.NoError(t, err)
		require.NoError(t, postgres.CheckWrites(t.Context(), pool))
	})
}

func TestWriteCause_IsOfTheClosedSet(t *testing.T) {
	t.Parallel()
	require.Empty(t, postgres.WriteFailureCause(nil))
	var causes []string
	for _, err := range []error{postgres.ErrLocked, postgres.ErrReadOnly, postgres.ErrDiskFull,
		postgres.ErrPermissionDenied,
		postgres.ErrNoStandby, fault.ErrUnavailable} {
		causes = append(causes, postgres.WriteFailureCause(errors.Join(err)))
	}
	require.Equal(t, postgres.WriteFailureCauses, causes)
}

// A commit that no standby confirms hangs, while every statement before it is answered.
func TestCheckWrites_NoStandbyConfirms_IsToldInTime_ByTriesThatDoNotWaitForOneAnother(t *testing.T) {
	t.Parallel()
	server := pgtest.StartServer(t)
	admin := storetest.NewPool(t, server.URL(), postgres.PoolOptions{})
	exec(t, admin, `CREATE ROLE service LOGIN`) // without rights on the sessions of others
	exec(t, admin, `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO service`)
	url := strings.Replace(server.URL(), "postgres@", "service@", 1)
	pools := map[string]*pgxpool.Pool{
		"direct":   storetest.NewPool(t, url, postgres.PoolOptions{MaxConns: 2}),
		"a pooler": storetest.NewPool(t, pgtest.StartPgBouncer(t, url), postgres.PoolOptions{MaxConns: 2, Pooled: true}),
	}
	for _, pool := range pools {
		require.NoError(t, postgres.CheckWrites(t.Context(), pool))
	}
	exec(t, admin, `ALTER SYSTEM SET synchronous_standby_names = 'away'`)
	exec(t, admin, `SELECT pg_reload_conf()`)
	require.Eventually(t, func() bool { return postgres.CheckWrites(t.Context(), pools["direct"]) != nil }, 10*time.Second,
		10*time.Millisecond, "the server has read its settings")
	for range 3 {
		began, ended := time.Now(), make(chan error, len(pools))
		for _, pool := range pools {
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				ended <- postgres.CheckWrites(ctx, pool)
			}()
		}
		for range pools {
			err := <-ended
			require.ErrorIs(t, err, postgres.ErrNoStandby)
			require.Equal(t, "standby", postgres.WriteFailureCause(err))
		}
		require.Less(t, time.Since(began), 4*time.Second)
	}
	require.Eventually(t, func() bool {
		var hanging int
		err := admin.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity
			WHERE wait_event = 'SyncRep'`).Scan(&hanging)
		return err == nil && hanging == 0
	}, 10*time.Second, 10*time.Millisecond, "tries that were given up leave no session behind")
	exec(t, admin, `ALTER SYSTEM RESET synchronous_standby_names`)
	exec(t, admin, `SELECT pg_reload_conf()`)
	for name, pool := range pools {
		require.Eventually(t, func() bool { return postgres.CheckWrites(t.Context(), pool) == nil }, 10*time.Second,
			10*time.Millisecond, name)
	}
}

// The rights of the try are those of the modules' statements on the same tables: no more, and no less.
func TestCheckWrites_MissingRights_AreNamedByTable(t *testing.T) {
	t.Parallel()
	admin := pgtest.New(t)
	var role string
	require.NoError(t, admin.QueryRow(t.Context(), `SELECT 'r' || replace(gen_random_uuid()::text, '-', '')`).Scan(&role))
	exec(t, admin, `CREATE ROLE `+role)
	t.Cleanup(func() {
		_, err := admin.Exec(context.WithoutCancel(t.Context()), `DROP OWNED BY `+role+`; DROP ROLE `+role)
		require.NoError(t, err)
	})
	pool := storetest.NewPool(t, admin.Config().ConnString(),
		postgres.PoolOptions{Settings: map[string]string{"role": role}})
	err := postgres.CheckWrites(t.Context(), pool)
	require.ErrorContains(t, err,
		role+" may not DELETE deliveries, INSERT deliveries, SELECT deliveries, UPDATE deliveries, ")

	store := storetest.NewStoreOverPool(t, pool, postgres.Options{})
	_, _, _, err = store.SchemaFits(t.Context())
	require.ErrorIs(t, err, migrations.ErrPermissionDenied)
	exec(t, admin, `GRANT SELECT ON goose_db_version TO `+role)
	_, _, _, err = store.SchemaFits(t.Context())
	require.NoError(t, err)
	exec(t, admin, `REVOKE USAGE ON SCHEMA public FROM PUBLIC`)
	_, _, _, err = store.SchemaFits(t.Context())
	require.ErrorIs(t, err, migrations.ErrPermissionDenied, "not a database without a schema")
	exec(t, admin, `GRANT USAGE ON SCHEMA public TO PUBLIC`)

	needed := neededRights(t, "deposits", "deposit_transitions", "idempotency_keys", "outbox", "events", "deliveries",
		"delivery_attempts")
	for _, right := range needed {
		exec(t, admin, `GRANT `+right+` TO `+role)
	}
	require.NoError(t, postgres.CheckWrites(t.Context(), pool))
	for _, right := range needed {
		exec(t, admin, `REVOKE `+right+` FROM `+role)
		err := postgres.CheckWrites(t.Context(), pool)
		require.ErrorIs(t, err, postgres.ErrPermissionDenied, right)
		require.Equal(t, "rights", postgres.WriteFailureCause(err))
		verb, table, _ := strings.Cut(right, " ON ")
		require.ErrorContains(t, err, role+" may not "+verb+" "+table)
		exec(t, admin, `GRANT `+right+` TO `+role)
	}
}

// neededRights reads the rights on tables from the SQL of the modules. A lock of a row needs UPDATE.
func neededRights(t *testing.T, tables ...string) []string {
	t.Helper()
	needed := map[string]bool{"UPDATE ON idempotency_keys": true} // FOR UPDATE
	for _, table := range tables {
		needed["SELECT ON "+table] = true
	}
	for _, u := range usesOf(t, ownerOf()) {
		for change := range u.changes {
			if _, table, _ := strings.Cut(change, " ON "); slices.Contains(tables, table) {
				needed[change] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(needed))
}
