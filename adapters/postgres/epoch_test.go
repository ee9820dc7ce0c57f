package postgres_test

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	platformtables "partnerdeposits/adapters/postgres/platform"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/storetest"
	ports "partnerdeposits/ports/platform"
)

const (
	soon  = 30 * time.Second
	often = 10 * time.Millisecond
)

// lines is a log that several goroutines read and write.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// watched starts to watch the epoch of a database and waits until the epoch is known.
func watched(t *testing.T, databaseURL string, log *lines) *platformtables.RestoreEpoch {
	t.Helper()
	epoch := platformtables.NewRestoreEpoch(storetest.NewPool(t, databaseURL, postgres.PoolOptions{}),
		slog.New(slog.NewTextHandler(log, nil)))
	require.Zero(t, epoch.Current())
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- epoch.Watch(ctx) }()
	t.Cleanup(func() {
		stop()
		require.ErrorIs(t, <-ended, context.Canceled)
	})
	require.Eventually(t, func() bool { return epoch.Current() != ports.RestoreEpoch{} }, soon, often)
	return epoch
}

func finish(t *testing.T, store *postgres.Store) {
	t.Helper()
	storetest.RunInTransaction(t, store, func(ctx context.Context, r *postgres.Store) error {
		return r.Restores.BeginEpoch(ctx, portstest.NewID(), time.Now())
	})
}

func TestEpoch_FinishedRestore_IsNoticedByARunningProcess(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	epoch := watched(t, pool.Config().ConnString(), &lines{})
	before := epoch.Current()
	finish(t, store)
	require.Eventually(t, func() bool { return epoch.Current() != before && epoch.Current() != ports.RestoreEpoch{} },
		soon,
		often)
}

// A copy of a database has the row of the original, as a restored database has the row of the backup.
func TestEpoch_OfARestoredCopy_IsAnother(t *testing.T) {
	t.Parallel()
	_, one := storetest.New(t, postgres.Options{})
	_, copied := storetest.New(t, postgres.Options{})
	var rows [2]id.ID
	require.NoError(t, one.QueryRow(t.Context(), `SELECT epoch FROM restore_epoch`).Scan(&rows[0]))
	require.NoError(t, copied.QueryRow(t.Context(), `SELECT epoch FROM restore_epoch`).Scan(&rows[1]))
	require.Equal(t, rows[0], rows[1])
	require.NotEqual(t, watched(t, one.Config().ConnString(), &lines{}).Current(),
		watched(t, copied.Config().ConnString(), &lines{}).Current())
}

func TestEpoch_ANewTimeline_AsksForRestoreFinish(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	var history string
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT history FROM restore_epoch`).Scan(&history))
	require.Regexp(t, `^\d+/0000000\d$`, history, "the server's identity and its timeline")
	require.NoError(t, platformtables.CheckRestoreFinished(t.Context(), pool))

	exec(t, pool, `UPDATE restore_epoch SET history = left(history, -8) || '00000000'`)
	require.ErrorIs(t, platformtables.CheckRestoreFinished(t.Context(), pool), platformtables.ErrDatabaseRestored)
	log := &lines{}
	watched(t, pool.Config().ConnString(), log)
	require.Eventually(t, func() bool { return bytes.Contains([]byte(log.String()), []byte("restore-finish")) }, soon,
		often)

	finish(t, store)
	require.NoError(t, platformtables.CheckRestoreFinished(t.Context(), pool))
}

// A provider may forbid the functions that tell the history. The epoch works without, and nobody is asked for anything.
func TestEpoch_WithoutAHistory_StillWorks(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	exec(t, pool, `CREATE OR REPLACE FUNCTION server_history() RETURNS text LANGUAGE sql AS $$ SELECT '' $$`)
	require.NoError(t, platformtables.CheckRestoreFinished(t.Context(), pool))
	epoch := watched(t, pool.Config().ConnString(), &lines{})
	before := epoch.Current()
	finish(t, store)
	require.Eventually(t, func() bool { return epoch.Current() != before }, soon, often)
}
