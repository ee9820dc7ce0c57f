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
	"partnerdeposits/adapters/postgres/groupcommit"
	"partnerdeposits/adapters/postgres/migrations"
	"partnerdeposits/core/fault"
	"partnerdeposits/lab/pgproxy"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/secretstest"
	"partnerdeposits/lab/storetest"
)

func TestServerKilled_InsideATransaction_EverythingIsUnavailable_UntilItIsBack(t *testing.T) {
	t.Parallel()
	server := pgtest.StartServer(t)
	store := storetest.NewStoreOverPool(t, storetest.NewPool(t, server.URL(), postgres.PoolOptions{}), postgres.Options{})
	depositID, err := create(t.Context(), store, storetest.CreateDepositOrigin(t, store), time.Now())
	require.NoError(t, err)
	require.ErrorIs(t, store.WithinTx(t.Context(), func(ctx context.Context) error {
		_, err := store.Deposits.LockRow(ctx, depositID)
		require.NoError(t, err)
		require.NoError(t, store.Ping(t.Context())) // by another connection, which breaks at rest
		require.NoError(t, server.Kill())
		_, err = store.Deposits.LockRow(ctx, depositID)
		return err
	}), fault.ErrUnavailable)
	for range 3 { // first with a broken connection, then without a connection
		_, err = store.Deposits.Deposit(t.Context(), depositID)
		require.ErrorIs(t, err, fault.ErrUnavailable)
		require.ErrorIs(t, cancel(t.Context(), store, depositID, time.Now()), fault.ErrUnavailable)
		_, err = store.Partners.Partners(t.Context())
		require.ErrorIs(t, err, fault.ErrUnavailable)
		require.ErrorIs(t, store.Ping(t.Context()), fault.ErrUnavailable)
		_, _, _, err = store.SchemaFits(t.Context())
		require.ErrorIs(t, err, fault.ErrUnavailable)
	}

	require.NoError(t, server.Restart(t.Context()))
	require.Eventually(t, func() bool { return store.Ping(t.Context()) == nil }, 10*time.Second, 10*time.Millisecond)
	require.NoError(t, cancel(t.Context(), store, depositID, time.Now()))
}

func TestWithinTx_ConnectionLostDuringCommit_IsUnavailableThoughItMayHaveTakenPlace(t *testing.T) {
	t.Parallel()
	direct := pgtest.NewDatabaseURL(t)
	through, link := storetest.ProxiedURL(t, direct)
	b := &storetest.Doorbell{}
	store := storetest.NewStoreOverPool(t, storetest.NewPool(t, through, postgres.PoolOptions{MaxConns: 1}),
		postgres.Options{Doorbell: b})
	e := storetest.NewDepositCancelledEvent(portstest.NewID(), portstest.NewID())
	warm := func(ctx context.Context) error {
		_, err := store.Idempotency.DeleteExpired(ctx, time.Now(), 1) // sends BEGIN
		return err
	}
	require.NoError(t, store.WithinTx(t.Context(), func(ctx context.Context) error {
		// prepares the statement on the connection
		require.NoError(t, store.Outbox.Append(ctx, storetest.NewDepositCancelledEvent(portstest.NewID(), portstest.NewID())))
		return warm(ctx)
	}))
	require.EqualValues(t, 1, b.Rung.Load())

	err := store.WithinTx(t.Context(), func(ctx context.Context) error {
		require.NoError(t, warm(ctx))
		require.NoError(t, store.Outbox.Append(ctx, e))
		// From here on the answers of the server are lost, and the connection ends.
		link.StartFault(pgproxy.Fault{Lost: true, Reset: 200 * time.Millisecond})
		return nil
	})

	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.EqualValues(t, 1, b.Rung.Load())
	pool := storetest.NewPool(t, direct, postgres.PoolOptions{})
	require.Equal(t, 1, count(t, pool, `SELECT count(*) FROM outbox WHERE event_id = $1`, e.ID),
		"this time it did take place")
}

func TestWithinTx_CallerGoesAwayDuringCommit_CommitsAllTheSame(t *testing.T) {
	t.Parallel()
	through, link := storetest.ProxiedURL(t, pgtest.NewDatabaseURL(t))
	store := storetest.NewStoreOverPool(t, storetest.NewPool(t, through, postgres.PoolOptions{MaxConns: 1}),
		postgres.Options{})
	require.NoError(t, store.Ping(t.Context()))
	link.StartFault(pgproxy.Fault{Wait: 300 * time.Millisecond})
	ctx, leave := context.WithCancel(t.Context())
	e := storetest.NewDepositCancelledEvent(portstest.NewID(), portstest.NewID())
	err := store.WithinTx(ctx, func(ctx context.Context) error {
		if err := store.Outbox.Append(ctx, e); err != nil {
			return err
		}
		time.AfterFunc(100*time.Millisecond, leave) // while the answer to COMMIT is delayed
		return nil
	})
	require.NoError(t, err)
	require.Error(t, ctx.Err())
}

func TestSchemaFits(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	fits, current, want, err := store.SchemaFits(t.Context())
	require.NoError(t, err)
	require.True(t, fits)
	require.Equal(t, migrations.NewestVersion(), want)
	require.Equal(t, want, current)

	_, err = pool.Exec(t.Context(), `DELETE FROM goose_db_version WHERE version_id > 0`)
	require.NoError(t, err)
	fits, current, _, err = store.SchemaFits(t.Context())
	require.NoError(t, err)
	require.False(t, fits)
	require.Zero(t, current)

	_, err = pool.Exec(t.Context(), `DROP TABLE goose_db_version`)
	require.NoError(t, err)
	fits, _, _, err = store.SchemaFits(t.Context())
	require.NoError(t, err)
	require.False(t, fits)
}

func TestNewPool_SetsTheLimitsOfEveryConnection(t *testing.T) {
	t.Parallel()
	pool := storetest.NewPool(t, pgtest.NewDatabaseURL(t),
		postgres.PoolOptions{AppName: "http", Settings: map[string]string{"jit": "off"}})
	for setting, want := range map[string]string{
		"statement_timeout": "8s", "lock_timeout": "2s", "idle_in_transaction_session_timeout": "30s",
		"application_name": "http", "TimeZone": "UTC", "jit": "off",
	} {
		var got string
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT current_setting($1)`, setting).Scan(&got))
		require.Equal(t, want, got, setting)
	}
}

func TestNewPool_BadURL_SaysSoWithoutThePassword(t *testing.T) {
	t.Parallel()
	_, err := postgres.NewPool(t.Context(), "postgres://u:hunter2@host:notaport/db", postgres.PoolOptions{})
	require.ErrorContains(t, err, "DATABASE_URL")
	require.NotContains(t, err.Error(), "hunter2")
}

func TestNewPool_DatabaseAway_DoesNotFailUntilItIsUsed(t *testing.T) {
	t.Parallel()
	pool := storetest.NewPool(t, "postgres://postgres@127.0.0.1:1/none", postgres.PoolOptions{})
	store := storetest.NewStoreOverPool(t, pool, postgres.Options{})
	require.ErrorIs(t, store.Ping(t.Context()), fault.ErrUnavailable)
}

// A process that starts before `admin migrate up` is not ready, and answers the requests that reach it all the same.
func TestSchemaMissingOrOlder_IsUnavailable(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"missing":         `DROP SCHEMA public CASCADE; CREATE SCHEMA public`,
		"without a table": `ALTER TABLE deposits RENAME TO later; ALTER TABLE partners RENAME TO later_too`,
		"without columns": `ALTER TABLE deposits RENAME COLUMN locale TO later; ALTER TABLE partners RENAME COLUMN contact_email TO later`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, pool := storetest.New(t, postgres.Options{})
			from := storetest.CreateDepositOrigin(t, store)
			exec(t, pool, change)
			_, err := store.Deposits.Deposit(t.Context(), portstest.NewID())
			require.ErrorIs(t, err, fault.ErrUnavailable)
			_, err = store.Partners.Partners(t.Context())
			require.ErrorIs(t, err, fault.ErrUnavailable)
			_, err = create(t.Context(), store, from, time.Now())
			require.ErrorIs(t, err, fault.ErrUnavailable)
			changes := groupcommit.New(pool, secretstest.NewCipher(t), groupcommit.Options{})
			require.ErrorIs(t, changes.Apply(t.Context(), creation(draft(from, time.Now()))), fault.ErrUnavailable)
		})
	}
}

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

// The operator of a database learns whom to end: not the sessions that wait in the queue before the last.
func TestIdle_NamesATransactionThatDoesNothing(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	waits := someSession(t, pool, `SET application_name = 'batch'; BEGIN; SELECT 1 FROM
		partners`)
	someSession(t, pool, `SELECT 1`) // idle, and in no transaction
	found, err := postgres.IdleTransactions(t.Context(), pool, 0)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, int(waits.PgConn().PID()), found[0].PID)
	require.Regexp(t, `^batch( at [0-9a-f.:]+)?$`, found[0].Application)
	require.Equal(t, "idle in transaction", found[0].State)
	require.Contains(t, found[0].Query, "SELECT 1 FROM partners", "in one line")
	require.Positive(t, found[0].Open)

	found, err = postgres.IdleTransactions(t.Context(), pool, time.Hour)
	require.NoError(t, err)
	require.Empty(t, found, "transactions of moments")
}

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
	var found []postgres.BlockingSession
	require.Eventually(t, func() bool {
		var err error
		found, err = postgres.BlockingSessions(t.Context(), pool, 0)
		return err == nil && len(found) == 1 && found[0].Waiting == 2
	}, 10*time.Second, time.Millisecond, "%v", &found)
	require.Equal(t, int(holder.PgConn().PID()), found[0].PID)
	require.Equal(t, "index builder", found[0].Application)
	require.Equal(t, "idle in transaction", found[0].State)
	require.Contains(t, found[0].Query, "LOCK TABLE deposits IN SHARE MODE", "in one line")
	require.Positive(t, found[0].Open)

	found, err := postgres.BlockingSessions(t.Context(), pool, time.Hour)
	require.NoError(t, err)
	require.Empty(t, found, "transactions of moments")
}
