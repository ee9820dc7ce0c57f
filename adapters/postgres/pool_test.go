package postgres_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
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
