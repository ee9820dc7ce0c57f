package redistest

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { RunTests(m) }

func TestURL_EndsEmptyAndFree(t *testing.T) {
	t.Parallel()
	var redisURL string
	t.Run("inner", func(t *testing.T) {
		redisURL = EmptyDatabaseURL(t)
		require.NoError(t, newClient(t, redisURL).Set(t.Context(), "left", 1, 0).Err())
	})
	options, err := redis.ParseURL(redisURL)
	require.NoError(t, err)
	require.NotZero(t, options.DB)
	keys, err := newClient(t, redisURL).Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	require.NotContains(t, keys, "left")
}

func TestTake_AllInUse_WaitsForOneGivenBack(t *testing.T) {
	t.Parallel()
	p := givenPool(t, 4)
	for want := 1; want <= 3; want++ {
		db, err := p.take(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, db)
	}
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := p.take(short)
	require.ErrorContains(t, err, "all 3 databases are in use")

	taken := make(chan int)
	go func() {
		db, err := p.take(t.Context())
		if err != nil {
			db = -1
		}
		taken <- db
	}()
	require.NoError(t, p.giveBack(t.Context(), 2))
	require.Equal(t, 2, <-taken)
}

func TestTake_TwoProcessesOnOneServer_NeverShareADatabase(t *testing.T) {
	t.Parallel()
	first := givenPool(t, 16)
	second, err := newPool(t.Context(), first.base.String())
	require.NoError(t, err)
	defer second.close()
	second.last = first.last
	seen := map[int]bool{}
	for i := range 15 {
		p := first
		if i%2 == 1 {
			p = second
		}
		db, err := p.take(t.Context())
		require.NoError(t, err)
		require.False(t, seen[db], "database %d twice", db)
		require.Positive(t, db)
		seen[db] = true
	}
}

func TestTake_AfterAKilledRun_IsEmptyAllTheSame(t *testing.T) {
	t.Parallel()
	p := givenPool(t, 2)
	left := newClient(t, p.urlOf(1))
	require.NoError(t, left.Set(t.Context(), "left", 1, 0).Err())

	db, err := p.take(t.Context())

	require.NoError(t, err)
	require.Equal(t, 1, db)
	require.Zero(t, left.DBSize(t.Context()).Val())
	require.Greater(t, p.leases.TTL(t.Context(), lease(1)).Val(), 10*time.Minute, "a killed run's lease ends by itself")
}

// givenPool is a pool that uses a certain number of databases, with that of the leases.
func givenPool(t testing.TB, count int) *pool {
	t.Helper()
	p, err := newPool(t.Context(), StartServer(t).URL())
	require.NoError(t, err)
	p.last = count - 1
	t.Cleanup(p.close)
	return p
}
