//go:build long

package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
	"partnerdeposits/lab/expand"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/procs"
	"partnerdeposits/lab/redistest"
)

const schema = "adapters/postgres/migrations"

// TestLong_Upgrade_ForwardBackAndForward_FailsLosesAndRepeatsNothing lets the binaries of the last release and those of
// this tree serve together, on the new schema, under a mixed load (docs/guides/adding.md). This tree gets two
// migrations more, so that the schema is newer even when no other migration is.
func TestLong_Upgrade_ForwardBackAndForward_FailsLosesAndRepeatsNothing(t *testing.T) {
	oldDir, newDir := lastRelease(t), nextRelease(t)
	databaseURL := emptyDatabase(t)
	redisURL := redistest.EmptyDatabaseURL(t)
	stores := []string{"DATABASE_URL=" + databaseURL, "REDIS_URL=" + redisURL}
	code, _, stderr := runAt(t, filepath.Join(oldDir, "admin"), stores, "migrate", "up")
	require.Zero(t, code, stderr)
	w := &deployment{bin: oldDir}
	w.prepare(t, databaseURL, redisURL, append(rolling, "AUTH_ATTEMPTS_PER_MINUTE=1000")...)
	f, r := w.fleet(t), newReceiver(t)
	w.subscribe(t, r, "deposit.activated", "deposit.captured")
	account := w.link(t, "villa-1")
	f.behindProxy(t)

	l := w.loadOf(account, mixedPerSecond, mixed)
	byOld := f.begin(t, l, f.https[0], "old")
	l.await(t, 60)
	begin := time.Now()
	w.migrateBehindAReader(t, newDir, databaseURL)
	t.Logf("figure: migrated under load, behind a transaction that reads, in %.1f s", time.Since(begin).Seconds())
	l.await(t, 60)

	to := func(dir string) func(*member) { return func(m *member) { m.bin = dir } }
	f.replace(t, l, 40, f.https[0], to(newDir)) // the second is old still
	f.replace(t, l, 40, f.dispatchers[0], to(newDir))
	awaitUp(t, f.proxy, "first")
	f.finish(t, f.https[0], f.begin(t, l, f.https[1], "old-then-new"), "old-then-new")
	f.finish(t, f.https[1], f.begin(t, l, f.https[0], "new-then-old"), "new-then-old")
	l.await(t, 120) // old and new together
	f.replace(t, l, 40, f.https[1], to(newDir))
	f.replace(t, l, 40, f.dispatchers[1], to(newDir))
	awaitUp(t, f.proxy, "second")
	l.await(t, 40)
	f.finish(t, f.https[0], byOld, "old")
	w.bin = newDir

	code, stdout, stderr := runAt(t, filepath.Join(oldDir, "admin"), w.environ, "migrate", "up", "--json")
	require.Zero(t, code, stderr)
	var answer struct {
		Version int64
		Note    string
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &answer))
	require.Equal(t, int64(901), answer.Version, "the older command leaves the newer schema alone")
	require.Contains(t, answer.Note, "this binary is older than the schema")

	byNew := f.begin(t, l, f.https[1], "new")
	f.roll(t, l, 40, to(oldDir))
	f.finish(t, f.https[1], byNew, "new")
	f.roll(t, l, 40, to(newDir))

	code, stdout, stderr = runAt(t, filepath.Join(newDir, "admin"), w.environ, "doctor",
		"--process", f.https[0].opsURL, "--process", f.dispatchers[0].opsURL)
	require.Zero(t, code, stdout+stderr)
	f.endMixed(t, l, r)
}

// emptyDatabase makes a database without tables.
func emptyDatabase(t *testing.T) (databaseURL string) {
	t.Helper()
	databaseURL = pgtest.NewDatabaseURL(t)
	conn, err := pgx.Connect(t.Context(), databaseURL)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), `DROP SCHEMA public CASCADE; CREATE SCHEMA public`)
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
	return databaseURL
}

// migrateBehindAReader migrates while a transaction reads deposits, as a report or a backup does. Requests pass
// meanwhile: the load counts every failure.
func (w *deployment) migrateBehindAReader(t *testing.T, dir, databaseURL string) {
	t.Helper()
	reader, err := pgx.Connect(t.Context(), databaseURL)
	require.NoError(t, err)
	// An open transaction that has read the table locks it against a change of its columns. READ COMMITTED keeps no
	// snapshot between statements: CREATE INDEX CONCURRENTLY would wait for a snapshot too.
	_, err = reader.Exec(t.Context(), `BEGIN ISOLATION LEVEL READ COMMITTED; SELECT count(*) FROM deposits`)
	require.NoError(t, err)
	log := &procs.OutputBuffer{}
	up, err := procs.Start(procs.ProcessSpec{Name: "admin", Path: filepath.Join(dir, "admin"),
		Args: []string{"migrate", "up"},
		Env:  append([]string{"PATH=" + os.Getenv("PATH")}, w.environ...), Log: log})
	require.NoError(t, err)
	t.Cleanup(up.Kill)
	require.Eventually(t, func() bool {
		return strings.Count(log.String(), "a table is in use; the migration waits and tries again") >= 2
	}, soon, often, lazy(log.String))
	require.NoError(t, reader.Close(t.Context()))
	select {
	case <-up.Done():
	case <-time.After(soon):
		require.FailNow(t, "the migration does not end", log.String())
	}
	require.Zero(t, up.ExitCode(), log.String())
	require.Contains(t, log.String(), "901")
}

// nextRelease builds this tree with the example migrations, and gives the folder of the binaries.
func nextRelease(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o755))
	replaced := map[string]string{}
	examples, err := filepath.Glob(filepath.Join(docstest.RepositoryRoot(), "lab/expand/testdata/009*.sql"))
	require.NoError(t, err)
	require.Len(t, examples, 2)
	for _, e := range examples {
		from, err := filepath.Abs(e)
		require.NoError(t, err)
		to, err := filepath.Abs(filepath.Join(docstest.RepositoryRoot(), schema, filepath.Base(e)))
		require.NoError(t, err)
		replaced[to] = from
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "overlay.json")
	require.NoError(t, os.WriteFile(file, overlay, 0o600))
	require.NoError(t, procs.BuildOptions{Overlay: file}.CompileTo(t.Context(), dir+string(filepath.Separator),
		"cmd/http", "cmd/dispatcher", "cmd/admin"))
	return dir
}

// lastRelease builds the last release from the history, once, and gives the folder of the binaries.
func lastRelease(t *testing.T) (dir string) {
	t.Helper()
	root, err := filepath.Abs(docstest.RepositoryRoot())
	require.NoError(t, err)
	all, err := expand.ReadReleases(os.DirFS(filepath.Join(root, schema)))
	require.NoError(t, err)
	last := all[len(all)-1]
	commit := strings.TrimSpace(command(t, root, "git", "rev-parse", "--verify", last.Commit+"^{commit}"))
	dir = filepath.Join(root, ".local/releases", commit)
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	begin := time.Now()
	require.NoError(t, os.MkdirAll(filepath.Dir(dir), 0o755))
	temp, err := os.MkdirTemp(filepath.Dir(dir), "build-")
	require.NoError(t, err)
	defer func() { _ = os.RemoveAll(temp) }()
	require.NoError(t, os.MkdirAll(filepath.Join(temp, "source"), 0o755))
	command(t, root, "git", "archive", "--format=tar", "-o", filepath.Join(temp, "source.tar"), commit)
	command(t, temp, "tar", "-xf", "source.tar", "-C", "source")
	command(t, filepath.Join(temp, "source"), "go", "build", "-ldflags=-s -w", "-buildvcs=false", "-o", "../bin/",
		"./cmd/http", "./cmd/dispatcher", "./cmd/admin")
	require.NoError(t, os.Rename(filepath.Join(temp, "bin"), dir))
	t.Logf("release %s is built, in %.0f s", last.Name, time.Since(begin).Seconds())
	return dir
}

func command(t *testing.T, dir, name string, args ...string) (stdout string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	require.NoError(t, err, fmt.Sprint(name, args, errs.String()))
	return string(out)
}
