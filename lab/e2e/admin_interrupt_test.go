//go:build linux

package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres/migrations"
	"partnerdeposits/adapters/secrets"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/redistest"
)

// An interrupted run ends after a whole page. The next run encrypts only the remaining rows.
func TestAdmin_Reencrypt_InterruptedAndRunAgain(t *testing.T) {
	t.Parallel()
	const rows, page, blocked = 5000, 500, 2600
	databaseURL := pgtest.URL(t)
	older, err := secrets.NewKeyset()
	require.NoError(t, err)
	keyset, err := secrets.Rotate(older)
	require.NoError(t, err)
	before, err := secrets.Open(older)
	require.NoError(t, err)
	after, err := secrets.Open(keyset)
	require.NoError(t, err)
	pool, err := pgxpool.New(t.Context(), databaseURL)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	idOf := func(n int) uuid.UUID { return uuid.MustParse(fmt.Sprintf("00000000-0000-7000-8000-%012x", n+1)) }
	plain := func(n int) string { return fmt.Sprintf("svc_cs_%d", n) }
	_, err = pool.CopyFrom(t.Context(), pgx.Identifier{"partners"},
		[]string{"id", "slug", "name", "connect_secret", "created_at"},
		pgx.CopyFromSlice(rows, func(n int) ([]any, error) {
			sealed, err := before.Encrypt([]byte(plain(n)), []byte("connect_secret:"+idOf(n).String()))
			return []any{idOf(n), fmt.Sprintf("p-%d", n), "P", sealed, time.Now()}, err
		}))
	require.NoError(t, err)
	newer := func() (n int) {
		require.NoError(t, pool.QueryRow(t.Context(),
			`SELECT count(*) FROM partners WHERE substring(connect_secret FROM 1 FOR 5) = $1`, after.PrimaryPrefix()).Scan(&n))
		return n
	}
	lock, err := pool.Begin(t.Context())
	require.NoError(t, err)
	// after a failure too, since the pool waits for the connection
	defer func() { _ = lock.Rollback(context.WithoutCancel(t.Context())) }()
	_, err = lock.Exec(t.Context(), `SELECT FROM partners WHERE id = $1 FOR UPDATE`, idOf(blocked))
	require.NoError(t, err)

	environ := []string{"DATABASE_URL=" + databaseURL, "REDIS_URL=" + redistest.URL(t), "SECRETS_KEYSET=" + keyset}
	term := onTerminal(t, environ, "secrets", "reencrypt")
	require.Eventually(t, func() bool { return newer() == blocked/page*page }, soon, often,
		"the page with the locked row waits")
	term.types(t, ctrlC)
	require.Equal(t, 130, term.exitCode(t), term.screen())
	require.Regexp(t, `\d+ of \d+ rows read \(\d+ %\)`, term.screen())
	require.Contains(t, term.screen(), "goes on with the rest when it runs again")
	require.NoError(t, lock.Rollback(t.Context()))
	require.Equal(t, blocked/page*page, newer())

	var done struct{ Read, Reencrypted int }
	again := func() {
		t.Helper()
		code, stdout, stderr := run(t, environ, "admin", "secrets", "reencrypt", "--json")
		require.Zero(t, code, stderr)
		require.NoError(t, json.Unmarshal([]byte(stdout), &done))
		require.Contains(t, stderr, `{"progress":{"done":500,`)
	}
	again()
	require.Equal(t, []int{rows, rows - blocked/page*page}, []int{done.Read, done.Reencrypted})
	require.Equal(t, rows, newer())
	again()
	require.Zero(t, done.Reencrypted)
	for _, n := range []int{0, blocked, rows - 1} {
		var sealed []byte
		require.NoError(t,
			pool.QueryRow(t.Context(), `SELECT connect_secret FROM partners WHERE id = $1`, idOf(n)).Scan(&sealed))
		opened, err := after.Decrypt(sealed, []byte("connect_secret:"+idOf(n).String()))
		require.NoError(t, err)
		require.Equal(t, plain(n), string(opened))
	}
}

// A secret that no key of the keyset decrypts stays as it is, and the command says which.
func TestAdmin_Reencrypt_WithTheWrongKeyset_ChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other, err := secrets.NewKeyset()
	require.NoError(t, err)
	code, stdout, stderr := run(t, append(w.environ[:len(w.environ):len(w.environ)], "SECRETS_KEYSET="+other), "admin",
		"secrets", "reencrypt")
	require.Equal(t, 1, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "connect secrets of row ")
	require.NotEmpty(t, w.connectURL(t, "villa-51"), "the secret still decrypts")
}

// Ctrl-C ends the statement in the server too, and the next run builds the index anew.
func TestAdmin_MigrateUp_InterruptedAndRunAgain(t *testing.T) {
	t.Parallel()
	databaseURL := emptyDatabase(t)
	environ := []string{"DATABASE_URL=" + databaseURL, "REDIS_URL=" + redistest.URL(t)}

	reader, err := pgx.Connect(t.Context(), databaseURL)
	require.NoError(t, err)
	// CREATE INDEX CONCURRENTLY waits for this snapshot
	_, err = reader.Exec(t.Context(), `BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class`)
	require.NoError(t, err)
	term := onTerminal(t, environ, "migrate", "up")
	term.await(t, "index deliveries_failed")
	term.types(t, ctrlC)
	require.Equal(t, 130, term.exitCode(t), term.screen())
	require.Contains(t, term.screen(), "goes on with the migration that was interrupted")
	require.NoError(t, reader.Close(t.Context()))

	check, err := pgx.Connect(t.Context(), databaseURL)
	require.NoError(t, err)
	defer check.Close(t.Context())
	var running, invalid int
	require.NoError(t,
		check.QueryRow(t.Context(),
			`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'CREATE INDEX%'`).Scan(
			&running))
	require.Zero(t, running, "no statement runs on in the server")
	version, err := migrations.Version(t.Context(), check)
	require.NoError(t, err)
	require.Equal(t, int64(2), version)
	code, stdout, stderr := run(t, environ, "admin", "migrate", "up", "--json")
	require.Zero(t, code, stderr)
	require.JSONEq(t, fmt.Sprintf(`{"version":%d}`, migrations.Newest()), stdout)
	require.NoError(t, check.QueryRow(t.Context(), `SELECT count(*) FROM pg_index WHERE NOT indisvalid`).Scan(&invalid))
	require.Zero(t, invalid)
}

// follow waits with a replay that no dispatcher makes, and is interrupted.
func (w *deployment) followUntilInterrupted(t *testing.T, replayID string) {
	t.Helper()
	term := onTerminal(t, w.environ, "webhook", "progress", "--replay", replayID, "--follow")
	term.await(t, "0 of 3 redeliveries (0 %)")
	term.types(t, ctrlC)
	require.Equal(t, 130, term.exitCode(t), term.screen())
	require.Contains(t, term.screen(), "the dispatchers go on with the replay")
}

// A shell that reads a pipe of the command sees plain lines.
func TestAdmin_ProgressInAPipe_IsPlainLines(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cmd := exec.CommandContext(t.Context(), binary(t, "admin"), "secrets", "reencrypt")
	cmd.Env = w.environ
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.NotContains(t, string(out), "\x1b")
	require.NotContains(t, string(out), "\r")
	require.Contains(t, string(out), "rows read")
}
