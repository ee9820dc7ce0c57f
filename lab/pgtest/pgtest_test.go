package pgtest

import (
	"cmp"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { RunTests(m) }

func TestCommon_IsFilledOnce_AndOutlivesTheTest(t *testing.T) {
	t.Parallel()
	filled, first := 0, ""
	for range 2 {
		t.Run("", func(t *testing.T) {
			url := SharedDatabaseURL(t, "filled", func(string) { filled++ })
			first = cmp.Or(first, url)
			require.Equal(t, first, url)
			conn, err := pgx.Connect(t.Context(), url)
			require.NoError(t, err)
			require.NoError(t, conn.Close(t.Context()))
		})
	}
	require.Equal(t, 1, filled)
}

func TestURL_AfterTheTest_IsDroppedWhoeverIsConnected(t *testing.T) {
	t.Parallel()
	var name string
	t.Run("inner", func(t *testing.T) {
		conn, err := pgx.Connect(t.Context(), NewDatabaseURL(t)) // never closed
		require.NoError(t, err)
		require.NoError(t, conn.QueryRow(t.Context(), `SELECT current_database()`).Scan(&name))
		require.True(t, exists(t, shared(t), name))
	})
	require.False(t, exists(t, shared(t), name))
}

func TestClosePool_ConnectionNotGivenBack_FailsTheTest(t *testing.T) {
	t.Parallel()
	pool := New(t)
	kept, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	recorder := &recordingTB{TB: t}

	closePool(recorder, pool, 10*time.Millisecond)

	require.Equal(t, []string{"pgtest: 1 connections were not given back to the pool"}, recorder.errors)
	kept.Release()
}

func TestClose_OnAGivenServer_LeavesNoTemplate(t *testing.T) {
	here := shared(t)
	t.Setenv(serverEnv, "")
	c, err := newCluster(t.Context(), here.base.String(), "")
	require.NoError(t, err)
	require.NotEqual(t, here.template, c.template)
	require.True(t, exists(t, here, c.template))

	require.NoError(t, c.close(t.Context()))

	require.False(t, exists(t, here, c.template))
}

func TestClose_OfAProcessThatSharesATemplate_LeavesIt(t *testing.T) {
	here := shared(t)
	t.Setenv(serverEnv, here.base.String())
	t.Setenv(templateEnv, here.template)
	c, err := newCluster(t.Context(), here.base.String(), "")
	require.NoError(t, err)
	require.Equal(t, here.template, c.template)

	require.NoError(t, c.close(t.Context()))

	require.True(t, exists(t, here, here.template))
}

func TestNewCluster_OnAGivenServer_RemovesOnlyOldLeftovers(t *testing.T) {
	t.Parallel()
	here := shared(t)
	named := func(age time.Duration) string {
		return fmt.Sprintf("%s%d_%d_left", prefix, time.Now().Add(-age).Unix(), time.Now().UnixNano())
	}
	old, young := named(7*time.Hour), named(time.Hour)
	someonesOwn := fmt.Sprintf("%smine_%d", prefix, time.Now().UnixNano())
	for _, name := range []string{old, young, someonesOwn} {
		require.NoError(t, here.clone(t.Context(), name))
		t.Cleanup(func() { require.NoError(t, here.drop(context.Background(), name)) })
	}

	c, err := newCluster(t.Context(), here.base.String(), "")
	require.NoError(t, err)
	require.NoError(t, c.close(t.Context()))

	require.False(t, exists(t, here, old))
	require.True(t, exists(t, here, young))
	require.True(t, exists(t, here, someonesOwn))
}

func exists(t testing.TB, c *cluster, name string) bool {
	t.Helper()
	var found bool
	require.NoError(t,
		c.admin.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, name).Scan(&found))
	return found
}

// recordingTB records the errors that would fail a test.
type recordingTB struct {
	testing.TB
	errors []string
}

func (r *recordingTB) Helper() {}
func (r *recordingTB) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}
