package admin

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres/migrations"
	"partnerdeposits/core/partner"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/redistest"
)

// emptyDatabase gives a database without tables, and a connection to it.
func emptyDatabase(t *testing.T) (databaseURL string, conn *pgx.Conn) {
	t.Helper()
	databaseURL = pgtest.NewDatabaseURL(t)
	conn, err := pgx.Connect(t.Context(), databaseURL)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(t.Context()) }) // the context has ended: it closes all the same
	_, err = conn.Exec(t.Context(), `DROP SCHEMA public CASCADE; CREATE SCHEMA public`)
	require.NoError(t, err)
	return databaseURL, conn
}

func TestMigrate_FromNothing_AndTheDoctorKnowsHowFarASchemaIs(t *testing.T) {
	t.Parallel()
	databaseURL, conn := emptyDatabase(t)
	environ := environOf(databaseURL, "REDIS_URL="+redistest.EmptyDatabaseURL(t))
	run := func(args ...string) ran { return runWith(t.Context(), environ, args...) }
	doctor := func(exit int, finding string) {
		t.Helper()
		got := run("doctor", "--json")
		require.Equal(t, exit, got.exit, got.stdout+got.stderr)
		require.Contains(t, got.stdout, finding)
		require.Equal(t, 1, strings.Count(got.stdout, "\n"), "one object")
	}
	applied := func(want bool) {
		t.Helper()
		var status struct{ Migrations []struct{ Applied bool } }
		require.NoError(t, json.Unmarshal([]byte(run("migrate", "status", "--json").stdout), &status))
		require.NotEmpty(t, status.Migrations)
		for _, m := range status.Migrations {
			require.Equal(t, want, m.Applied)
		}
	}
	doctor(1, "Run `admin migrate up`.")
	applied(false)
	both := make(chan int, 2) // the first migrates, the second waits and finds nothing to do
	for range 2 {
		go func() { both <- run("migrate", "up").exit }()
	}
	require.Zero(t, <-both+<-both)
	applied(true)
	doctor(0, `"ok":true`)

	change := func(sql string) {
		t.Helper()
		_, err := conn.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	change(`UPDATE restore_epoch SET history = history || '0'`)
	doctor(1, "Run `admin restore-finish`")
	finished := run("restore-finish", "--json")
	require.Zero(t, finished.exit, finished.stderr)
	require.Regexp(t, `^{"epoch":"[0-9a-f-]{36}"}\n$`, finished.stdout)
	doctor(0, `"ok":true`)

	change(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)`) // by a newer binary
	up := run("migrate", "up", "--json")
	require.Zero(t, up.exit, up.stderr)
	require.Contains(t, up.stdout, `"version":9999`)
	require.Contains(t, up.stdout, "this binary is older than the schema")
	doctor(0, `"ok":true`)

	environ[0] = "DATABASE_URL=postgres://u@127.0.0.1:1/x"
	doctor(1, "cannot be reached")
	got := run("partner", "list")
	require.Equal(t, 1, got.exit)
	require.Contains(t, got.stderr, "the database cannot be reached")
}

func TestDoctor_OfAKeysetThatDoesNotDecrypt_SaysSo(t *testing.T) {
	s := newStaff(t)
	s.environ[1] = "REDIS_URL=" + redistest.EmptyDatabaseURL(t)
	s.CreatePartner("acme", func(p *partner.Partner) { p.Name = "Acme" })
	got := s.run("doctor")
	require.Zero(t, got.exit, got.stdout+got.stderr)
	s.environ = append(s.environ, "SECRETS_KEYSET="+keysetOf(t, "new-keyset"))
	got = s.run("doctor")
	require.Equal(t, 1, got.exit)
	require.Contains(t, got.stdout, "SECRETS_KEYSET is not the keyset of this database")
	require.Equal(t, "something is wrong; see above\n", got.stderr)
}

// A migration needs a session of its own, so it goes around the pooler.
func TestMigrate_BehindAPooler_TakesTheDirectWay(t *testing.T) {
	t.Parallel()
	direct := pgtest.NewDatabaseURL(t)
	environ := []string{"DATABASE_URL=" + pgtest.PgBouncerURL(t, direct), "DATABASE_POOLED=true"}
	for _, command := range []string{"up", "status"} {
		got := runWith(t.Context(), environ, "migrate", command)
		require.Equal(t, 2, got.exit, got.stderr)
		require.Contains(t, got.stderr, "DATABASE_DIRECT_URL: is required with DATABASE_POOLED")
		got = runWith(t.Context(), append(environ, "DATABASE_DIRECT_URL="+direct), "migrate", command)
		require.Zero(t, got.exit, got.stderr)
	}
}

// Ctrl-C ends the statement in the server too, and the next run builds the index anew.
func requireInterruptedMigrationGoesOn(t *testing.T, databaseURL string, conn *pgx.Conn) {
	t.Helper()
	var running, invalid int
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity
		WHERE datname = current_database() AND query LIKE 'CREATE INDEX%'`).Scan(&running))
	require.Zero(t, running, "no statement runs on in the server")
	version, err := migrations.AppliedVersion(t.Context(), conn)
	require.NoError(t, err)
	require.Equal(t, int64(2), version)
	got := runWith(t.Context(), environOf(databaseURL), "migrate", "up", "--json")
	require.Zero(t, got.exit, got.stderr)
	var answer struct{ Version int64 }
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &answer))
	require.Equal(t, migrations.NewestVersion(), answer.Version)
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_index WHERE NOT indisvalid`).Scan(&invalid))
	require.Zero(t, invalid)
}
