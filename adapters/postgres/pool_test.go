package postgres_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/groupcommit"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/secretstest"
	"partnerdeposits/lab/storetest"
)

func TestNewPool_PingAfter_IsTheIdleTimeThatNeedsAPing(t *testing.T) {
	t.Parallel()
	for set, idle := range map[time.Duration]time.Duration{0: time.Second, 5 * time.Second: 5 * time.Second} {
		pool, err := postgres.NewPool(t.Context(), "postgres://nowhere.invalid/db", postgres.PoolOptions{PingAfter: set})
		require.NoError(t, err)
		t.Cleanup(pool.Close)
		pings := pool.Config().ShouldPing
		require.False(t, pings(t.Context(), pgxpool.ShouldPingParams{IdleDuration: idle}))
		require.True(t, pings(t.Context(), pgxpool.ShouldPingParams{IdleDuration: idle + 1}))
	}
}

// Start-up parameters would be refused by PgBouncer.
func TestGroupCommit_ThroughPgBouncer_WritesADeposit(t *testing.T) {
	t.Parallel()
	pool := storetest.NewPool(t, pgtest.PgBouncerURL(t, pgtest.NewDatabaseURL(t)),
		postgres.PoolOptions{Pooled: true, Settings: postgres.IndexPlanSettings})
	store := storetest.NewStoreOverPool(t, pool, postgres.Options{})
	from := storetest.CreateDepositOrigin(t, store)
	changes := groupcommit.New(pool, secretstest.NewCipher(t), groupcommit.Options{})
	for range 3 {
		d := draft(from, time.Now())
		require.NoError(t, changes.Apply(t.Context(), creation(d)))
		require.NoError(t, changes.Apply(t.Context(), activation(d)))
	}
	var events int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM outbox`).Scan(&events))
	require.Equal(t, 3, events)
}

func TestCheckRole_NamesTheMissingSettingsAsStatements(t *testing.T) {
	t.Parallel()
	direct := pgtest.NewDatabaseURL(t)
	err := postgres.CheckRoleSettings(t.Context(), storetest.NewPool(t, direct, postgres.PoolOptions{Pooled: true}))
	require.ErrorContains(t, err, `SET enable_seqscan = 'off';`)
	require.ErrorContains(t, err, `SET statement_timeout = '8000';`)
	settings := postgres.RequiredRoleSettings()
	require.Equal(t, "10000", settings["idle_in_transaction_session_timeout"])
	require.NoError(t,
		postgres.CheckRoleSettings(t.Context(), storetest.NewPool(t, direct, postgres.PoolOptions{Settings: settings})))
}

func TestCheckConnection_SettingsDropped_IsAPoolerThatNobodyNamed(t *testing.T) {
	t.Parallel()
	direct := pgtest.NewDatabaseURL(t)
	for _, o := range []postgres.PoolOptions{{}, {Pooled: true}} {
		_, err := postgres.CheckConnection(t.Context(), storetest.NewPool(t, direct, o))
		require.NoError(t, err)
	}
	pool := storetest.NewPool(t, direct, postgres.PoolOptions{MaxConns: 1})
	exec(t, pool, `SET statement_timeout = 0`) // as behind a pooler that drops start-up parameters
	_, err := postgres.CheckConnection(t.Context(), pool)
	require.ErrorIs(t, err, postgres.ErrUndeclaredPooler)
}

func TestCheckConnection_TellsHowFarTheClockIsAhead(t *testing.T) {
	t.Parallel()
	url := pgtest.NewDatabaseURL(t)
	ahead, err := postgres.CheckConnection(t.Context(), storetest.NewPool(t, url, postgres.PoolOptions{}))
	require.NoError(t, err)
	require.Less(t, ahead.Abs(), 2*time.Second, "the same machine")
	pgtest.SkewDatabaseClock(t, url, -10*time.Minute)
	ahead, err = postgres.CheckConnection(t.Context(), storetest.NewPool(t, url, postgres.PoolOptions{}))
	require.NoError(t, err)
	require.InDelta(t, -600, ahead.Seconds(), 2)
}
