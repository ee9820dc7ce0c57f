package migrations_test

import (
	"context"
	"net/url"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres/migrations"
	"partnerdeposits/lab/expand"
	"partnerdeposits/lab/pgtest"
	ports "partnerdeposits/ports/platform"
)

func TestMain(m *testing.M) { pgtest.RunTests(m) }

const soon = 30 * time.Second

// alter is a migration that needs a table for itself.
var alter = fstest.MapFS{"00900_alter.sql": {
	Data: []byte("-- +goose Up\nALTER TABLE deposits ADD COLUMN room text;\n-- +goose Down\nSELECT 1;\n")}}

// read begins a transaction that reads deposits, and returns its end.
func read(t *testing.T, databaseURL string) (end func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), databaseURL)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), `BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM deposits`)
	require.NoError(t, err)
	return func() { require.NoError(t, conn.Close(t.Context())) }
}

// While ALTER TABLE waits for a long reader, every request that needs the table waits behind ALTER TABLE.
func TestUp_ATableInUse_LetsRequestsPassAndTriesAgain(t *testing.T) {
	t.Parallel()
	url := pgtest.NewDatabaseURL(t)
	end := read(t, url)
	up := make(chan error, 1)
	go func() {
		up <- migrations.UpWith(t.Context(), url, alter, 200*time.Millisecond, time.Hour, func(error) {})
	}()
	request, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { require.NoError(t, request.Close(t.Context())) }()
	_, err = request.Exec(t.Context(), `SET statement_timeout = '2s'`)
	require.NoError(t, err)
	for range 5 {
		require.Eventually(t, func() bool {
			var waits bool
			err := request.QueryRow(t.Context(),
				`SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'deposits'::regclass AND NOT granted
				AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`).Scan(&waits)
			return err == nil && waits
		}, soon, time.Millisecond, "the migration waits for the lock")
		_, err = request.Exec(t.Context(), `SELECT count(*) FROM deposits`)
		require.NoError(t, err, "a request waits for moments only")
	}
	end()
	require.NoError(t, <-up)
	_, err = request.Exec(t.Context(), `SELECT room FROM deposits`)
	require.NoError(t, err)
}

func TestUp_ATableInUseForTooLong_GivesUpAndSaysSo(t *testing.T) {
	t.Parallel()
	url := pgtest.NewDatabaseURL(t)
	defer read(t, url)()
	waited := 0
	err := migrations.UpWith(t.Context(), url, alter, 10*time.Millisecond, 100*time.Millisecond, func(error) { waited++ })
	require.ErrorIs(t, err, migrations.ErrLocked)
	require.ErrorContains(t, err, "pg_stat_activity")
	require.Positive(t, waited)
}

// CREATE INDEX CONCURRENTLY waits for the transactions that are older. A bound would throw away the work of minutes.
func TestUp_ConcurrentMigrations_AreStepsOfTheirOwn(t *testing.T) {
	t.Parallel()
	plain, concurrent := &fstest.MapFile{Data: []byte("-- +goose Up\n")},
		&fstest.MapFile{Data: []byte("-- +goose NO TRANSACTION\n-- +goose Up\n")}
	require.Equal(t, []int64{2, -4, 5}, migrations.Steps(fstest.MapFS{
		"00001_a.sql": plain, "00002_b.sql": plain, "00003_c.sql": concurrent, "00004_d.sql": concurrent,
		"00005_e.sql": plain,
	}))
}

func TestUp_AConcurrentMigration_OutlastsAReader(t *testing.T) {
	t.Parallel()
	url := pgtest.NewDatabaseURL(t)
	end := read(t, url)
	index := fstest.MapFS{"00900_index.sql": {
		Data: []byte("-- +goose NO TRANSACTION\n-- +goose Up\nCREATE INDEX CONCURRENTLY more ON deposits (locale);\n")}}
	up := make(chan error, 1)
	go func() {
		up <- migrations.UpWith(t.Context(), url, index, time.Millisecond, 0, func(error) {})
	}()
	watch, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { require.NoError(t, watch.Close(t.Context())) }()
	require.Eventually(t, func() bool {
		var waits bool
		err := watch.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()
			AND query LIKE 'CREATE INDEX CONCURRENTLY%' AND wait_event_type = 'Lock'
			AND now() - query_start > interval '20 milliseconds')`).Scan(&waits)
		return err == nil && waits
	}, soon, time.Millisecond)
	end()
	require.NoError(t, <-up)
}

// Late migrations need a database with UTF-8 and ICU. Without the check at the start, they would fail half way.
func TestUp_OnADatabaseThatDoesNotFit_ChangesNothing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ options, spoil, says string }{
		"not UTF-8":   {`ENCODING 'SQL_ASCII' LOCALE 'C'`, "", "its encoding is SQL_ASCII"},
		"without ICU": {`ENCODING 'UTF8'`, `DELETE FROM pg_collation WHERE collprovider = 'i'`, "und-x-icu"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := emptyDatabase(t, test.options)
			conn, err := pgx.Connect(t.Context(), database)
			require.NoError(t, err)
			defer func() { require.NoError(t, conn.Close(t.Context())) }()
			_, err = conn.Exec(t.Context(), test.spoil)
			require.NoError(t, err)

			_, err = migrations.Up(t.Context(), database, nil)
			require.ErrorIs(t, err, migrations.ErrUnsuitableDatabase)
			require.ErrorContains(t, err, test.says)
			var tables int
			err = conn.QueryRow(t.Context(),
				`SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace`).Scan(&tables)
			require.NoError(t, err)
			require.Zero(t, tables)
		})
	}
}

// emptyDatabase gives the URL of a database with the options, which lives as long as the test.
func emptyDatabase(t *testing.T, options string) string {
	t.Helper()
	server := pgtest.NewDatabaseURL(t)
	name := "empty_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	conn, err := pgx.Connect(t.Context(), server)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "CREATE DATABASE "+name+" TEMPLATE template0 "+options)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		_, err := conn.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)")
		require.NoError(t, err)
		require.NoError(t, conn.Close(ctx))
	})
	at, err := url.Parse(server)
	require.NoError(t, err)
	at.Path = "/" + name
	return at.String()
}

// TestMigrations_LetTheLastReleaseServeOn: docs/guides/adding.md tells the rule and the ways around each refusal.
// A row from before that nobody can read stops no upgrade. The constraint refuses further ones, and the row itself once
// somebody changes it.
func TestReadableRows_OnADatabaseWithAnOddRow_RefuseFurtherOnes(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), pgtest.NewDatabaseURL(t))
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	exec := func(sql string) error { _, err := conn.Exec(t.Context(), sql); return err }
	require.NoError(t, exec(`DO $$ DECLARE c record; BEGIN FOR c IN SELECT conrelid::regclass AS at, conname FROM pg_constraint
		WHERE contype = 'c' AND coninhcount = 0 AND conname ~ '_(finite|texts|object)$' LOOP
		EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', c.at, c.conname); END LOOP; END $$`))
	const entry = `INSERT INTO audit_log (id, at, actor, action, subject, detail)
		VALUES (gen_random_uuid(), now(), 'admin', 'x', 'y', '{"a": {"b": 1}}')`
	require.NoError(t, exec(entry))
	readable, err := os.ReadFile("00062_readable_rows.sql")
	require.NoError(t, err)
	require.NoError(t, migrations.UpWith(t.Context(), conn.Config().ConnString(),
		fstest.MapFS{"00900_again.sql": {Data: readable}}, time.Second, time.Minute, nil))
	require.ErrorContains(t, exec(entry), "audit_log_texts")
	const event = `INSERT INTO events (id, partner_id, name, data, created_at)
		VALUES (gen_random_uuid(), gen_random_uuid(), 'deposit.expired', `
	require.ErrorContains(t, exec(event+`'[1]', now())`), "events_object")
	require.ErrorContains(t, exec(event+`'{"broken', now())`), "type json")
	require.ErrorContains(t, exec(event+`'{}', 'infinity')`), "events_finite")
}

// Each time of a row that is listed is finite, since no Go time is infinite.
func TestReadableRows_EachTimeOfAListedRow_IsFinite(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), pgtest.NewDatabaseURL(t))
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	rows, err := conn.Query(t.Context(), `SELECT c.table_name || '.' || c.column_name FROM information_schema.columns c
		WHERE c.table_name = ANY ($1) AND c.data_type = 'timestamp with time zone' AND NOT EXISTS (
			SELECT FROM pg_constraint k WHERE k.conrelid = c.table_name::regclass AND k.contype = 'c'
			AND pg_get_constraintdef(k.oid) LIKE '%isfinite(' || c.column_name || ')%')`, ports.APIListedTables)
	require.NoError(t, err)
	missing, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Empty(t, missing)
}

func TestMigrations_LetTheLastReleaseServeOn(t *testing.T) {
	t.Parallel()
	folder := os.DirFS(".")
	releases, err := expand.ReadReleases(folder)
	require.NoError(t, err)
	released := releases[len(releases)-1].Migrated
	changed, err := expand.CheckReleasedMigrationsUnchanged(folder, released)
	require.NoError(t, err)
	all, err := expand.ReadMigrations(folder)
	require.NoError(t, err)
	require.Greater(t, len(all), 50, "the migrations are found")
	var known []string
	for _, r := range releases {
		known = append(known, r.Name)
	}
	for _, problem := range append(changed, expand.CheckMigrations(all, released, known)...) {
		t.Error(problem)
	}
}
