package expand_test

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/expand"
)

const outside = "-- +goose NO TRANSACTION\n"

// check reviews a migration that follows a released one.
func check(head, sql string, earlier ...string) (why []string) {
	all := []expand.Migration{{Number: 1, Name: "00001_released.sql", SQL: `-- +goose Up
		CREATE TABLE deposits (id uuid);
		CREATE TABLE events (id uuid) PARTITION BY RANGE (id);
		ALTER TABLE deposits DROP COLUMN released_migrations_may_do_anything;`}}
	for i, e := range append(earlier, head+"-- +goose Up\n"+sql+"\n-- +goose Down\nDROP TABLE deposits;") {
		all = append(all, expand.Migration{Number: int64(i + 2), Name: "00002_next.sql", SQL: e})
	}
	for _, p := range expand.CheckMigrations(all, 1, []string{"0", "1.0.0"}) {
		why = append(why, p.String())
	}
	return why
}

// Each refusal stands beside the form that passes.
var rules = map[string]struct {
	refused, passes       string
	refusedHead, passHead string
	why                   string
}{
	"a column that goes": {why: "needs the column",
		refused: `ALTER TABLE deposits DROP COLUMN room`,
		passes:  "-- contract: room unused since 1.0.0\nALTER TABLE deposits DROP COLUMN room"},
	"a column with another name": {why: "the old name",
		refused: `ALTER TABLE deposits RENAME COLUMN room TO unit`,
		passes:  `ALTER TABLE deposits ADD COLUMN unit text`},
	"a table that goes": {why: "needs the table",
		refused: `DROP TABLE IF EXISTS deposits`,
		passes:  "-- contract: deposits unused since 0\nDROP TABLE deposits"},
	"a table with another name": {why: "the old name",
		refused: `ALTER TABLE deposits RENAME TO cautions`,
		passes:  `CREATE TABLE cautions (id uuid); ALTER TABLE cautions RENAME TO guarantees`},
	"a function that goes": {why: "needs the function",
		refused: `DROP FUNCTION folded(text)`,
		passes:  `DROP FUNCTION folded(text); CREATE FUNCTION folded(a text) RETURNS text LANGUAGE sql AS $$ SELECT a $$`},
	"another type": {why: "written anew",
		refused: `ALTER TABLE deposits ALTER COLUMN amount TYPE numeric`,
		passes:  `ALTER TABLE deposits ALTER COLUMN amount SET STATISTICS 500`},
	"no nulls, unchecked": {why: "every row is read",
		refused: `ALTER TABLE deposits ALTER room SET NOT NULL`,
		passes:  `ALTER TABLE deposits ALTER room DROP NOT NULL`},
	"a required column": {why: "NOT NULL needs a constant DEFAULT",
		refused: `ALTER TABLE deposits ADD COLUMN room text NOT NULL`,
		passes:  `ALTER TABLE deposits ADD COLUMN room text NOT NULL DEFAULT '', ADD n numeric(10,2) DEFAULT 1::numeric(10,2)`},
	"a computed default": {why: "computed for each row",
		refused: `ALTER TABLE deposits ADD COLUMN token uuid DEFAULT gen_random_uuid()`,
		passes: `ALTER TABLE deposits ADD COLUMN token uuid, ADD at timestamptz NOT NULL DEFAULT now();
			ALTER TABLE deposits ALTER COLUMN token SET DEFAULT gen_random_uuid()`},
	"a counted column": {why: "written anew",
		refused: `ALTER TABLE deposits ADD COLUMN number bigserial`,
		passes:  `ALTER TABLE deposits ADD COLUMN number bigint`},
	"a generated column": {why: "written anew",
		refused: `ALTER TABLE deposits ADD COLUMN sum bigint GENERATED ALWAYS AS (amount + fee) STORED`,
		passes:  `ALTER TABLE deposits ADD COLUMN sum bigint`},
	"a column with a check": {why: "every row is read",
		refused: `ALTER TABLE deposits ADD COLUMN room text CHECK (room <> '')`,
		passes:  `ALTER TABLE deposits ADD COLUMN room text, ADD CONSTRAINT rooms CHECK (room <> '') NOT VALID`},
	"a constraint at once": {why: "every row is read",
		refused: `ALTER TABLE deposits DROP CONSTRAINT kinds, ADD CONSTRAINT kinds CHECK (kind IN ('a', 'b'))`,
		passes:  `ALTER TABLE deposits DROP CONSTRAINT kinds, ADD CONSTRAINT kinds CHECK (kind IN ('a', 'b')) NOT VALID`},
	"a constraint that an older binary may break": {why: "rows that the constraint refuses",
		refused: `ALTER TABLE deposits ADD CONSTRAINT kinds CHECK (kind IN ('a')) NOT VALID`,
		passes: "-- contract: kind b unused since 1.0.0\n" +
			`ALTER TABLE deposits ADD CONSTRAINT kinds CHECK (kind IN ('a')) NOT VALID`},
	"a unique constraint that goes": {why: "ON CONFLICT",
		refused: `ALTER TABLE deposits DROP CONSTRAINT deposits_reference_key`,
		passes:  `ALTER TABLE deposits DROP CONSTRAINT deposits_client_id_fkey`},
	"rows read under locks": {why: "while the locks of the transaction last",
		refused: `ALTER TABLE deposits VALIDATE CONSTRAINT kinds`,
		passes:  `ALTER TABLE deposits VALIDATE CONSTRAINT kinds`, passHead: outside},
	"an index that stops writes": {why: "writes wait",
		refused: `CREATE INDEX rooms ON deposits (room)`,
		passes: `DROP INDEX CONCURRENTLY IF EXISTS rooms;
			CREATE INDEX CONCURRENTLY rooms ON deposits (room)`, passHead: outside},
	"an index of a partitioned table": {why: "writes wait",
		refused: `CREATE INDEX rooms ON events (room)`,
		passes:  `CREATE INDEX rooms ON ONLY events (room)`},
	"an index that stays invalid": {why: "invalid index",
		refused: `CREATE INDEX CONCURRENTLY IF NOT EXISTS rooms ON deposits (room)`, refusedHead: outside,
		passes: `CREATE TABLE rooms (id uuid); CREATE INDEX ON rooms (id)`},
	"a concurrent index in a transaction": {why: "needs a migration with +goose NO TRANSACTION",
		refused: `CREATE INDEX CONCURRENTLY rooms ON deposits (room)`,
		passes:  `CREATE TABLE rooms (id uuid); CREATE UNIQUE INDEX of_room ON rooms (id)`},
	"a unique index": {why: "rows that the index refuses",
		refused: `DROP INDEX CONCURRENTLY IF EXISTS one_room;
			CREATE UNIQUE INDEX CONCURRENTLY one_room ON deposits (room)`, refusedHead: outside,
		passes: `-- contract: a second deposit of a room unused since 0
			DROP INDEX CONCURRENTLY IF EXISTS one_room; CREATE UNIQUE INDEX CONCURRENTLY one_room ON deposits (room)`,
		passHead: outside},
	"an index that goes": {why: "may need the index",
		refused: `DROP INDEX deposits_of_client`,
		passes:  "-- contract: deposits_of_client unused since 1.0.0\nDROP INDEX deposits_of_client"},
	"a lock without a bound": {why: "no bound",
		refused: `ALTER TABLE deposits ADD COLUMN room text`, refusedHead: outside,
		passes: `ALTER TABLE deposits ADD COLUMN room text`},
	"a trigger without a bound": {why: "no bound",
		refused: `CREATE OR REPLACE TRIGGER t AFTER UPDATE OF a OR INSERT ON deposits EXECUTE FUNCTION f()`, refusedHead: outside,
		passes: `CREATE TRIGGER t AFTER UPDATE ON deposits EXECUTE FUNCTION f()`},
	"an update of all rows": {why: "locks all its rows",
		refused: `UPDATE deposits SET room = '' WHERE room IS NULL`,
		passes: `DO $$ BEGIN LOOP
				UPDATE deposits SET room = '' WHERE id IN (SELECT id FROM deposits WHERE room IS NULL LIMIT 1000);
				EXIT WHEN NOT FOUND; COMMIT; END LOOP; END $$`, passHead: outside},
	"an update of all rows inside WITH": {why: "locks all its rows",
		refused: `WITH b AS (SELECT 1) UPDATE deposits SET room = ''`,
		passes:  `WITH b AS (SELECT 1) SELECT * FROM b`},
	"a block without commits": {why: "COMMIT in a LOOP",
		refused: `DO $do$ BEGIN UPDATE deposits SET room = '' ; END $do$`, refusedHead: outside,
		passes: `DO $do$ BEGIN PERFORM 1; END $do$`},
	"a block about the schema": {why: "outside DO",
		refused: `DO $$ BEGIN ALTER TABLE deposits DROP COLUMN room; END $$`,
		passes:  `SELECT create_partitions()`},
	"composed SQL": {why: "EXECUTE composes",
		refused: `DO $$ BEGIN EXECUTE format('DROP TABLE %I', 'deposits'); END $$`,
		passes:  "-- dynamic: a table of a day, which no release reads\nDO $$ BEGIN EXECUTE format('DROP TABLE %I', 'd'); END $$"},
	"a copy in a transaction": {why: "copy in pieces",
		refused: `CREATE TABLE names (id uuid); INSERT INTO names SELECT id FROM deposits`,
		passes:  `CREATE TABLE names (id uuid); INSERT INTO names VALUES (NULL)`},
	"rows that go": {why: "needs the rows",
		refused: `TRUNCATE deposits`,
		passes:  "-- contract: deposits unused since 1.0.0\nTRUNCATE deposits"},
	"a default that goes": {why: "does not name the column",
		refused: `ALTER TABLE deposits ALTER COLUMN room DROP DEFAULT`,
		passes:  `ALTER TABLE deposits ALTER COLUMN room SET DEFAULT 'x'`},
	"an enum's value with another name": {why: "knows the type",
		refused: `ALTER TYPE mood RENAME VALUE 'a' TO 'b'`,
		passes:  `ALTER TYPE mood ADD VALUE 'c'`},
	"an unknown statement": {why: "does not know this statement",
		refused: `LOCK TABLE deposits`,
		passes:  `COMMENT ON TABLE deposits IS 'ALTER TABLE deposits DROP COLUMN room; -- in a text'`},
	"an unknown action": {why: "does not know this action",
		refused: `ALTER TABLE deposits SET UNLOGGED`,
		passes:  `ALTER TABLE deposits SET (fillfactor = 60), ENABLE TRIGGER t`},
	"a contract with an unknown release": {why: `names the release "2.0.0"`,
		refused: "-- contract: room unused since 2.0.0\nALTER TABLE deposits DROP COLUMN room",
		passes:  "-- contract: room unused since 1.0.0\nALTER TABLE deposits DROP COLUMN room"},
	"a contract without its form": {why: "the form of the line",
		refused: "-- contract: room\nALTER TABLE deposits DROP COLUMN room",
		passes:  "/* ALTER TABLE deposits\nDROP COLUMN room */ SELECT 1"},
	"a contract for nothing": {why: "no statement needs the contract line",
		refused: "-- contract: room unused since 1.0.0\nSELECT 1",
		passes:  "-- DROP TABLE deposits;\nSELECT 'DROP TABLE deposits; it''s fine', E'\\'; DROP', \"drop;\""},
	"a contract of a statement that blocks": {why: "writes wait",
		refused: "-- contract: room unused since 1.0.0\nDROP INDEX i; CREATE INDEX rooms ON deposits (room)",
		passes:  "-- contract: room unused since 1.0.0\nDROP INDEX i"},
}

func TestCheck_RefusesWhatBreaksAndPassesWhatDoesNot(t *testing.T) {
	t.Parallel()
	for name, r := range rules {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refused := check(r.refusedHead, r.refused)
			require.NotEmpty(t, refused)
			require.Contains(t, strings.Join(refused, "\n"), r.why)
			require.Empty(t, check(r.passHead, r.passes))
		})
	}
}

// SET NOT NULL reads no row where a validated constraint says the same.
func TestCheck_NotNull_AfterAValidatedCheck_Passes(t *testing.T) {
	t.Parallel()
	add := "-- +goose Up\n-- contract: deposits without a room unused since 0\n" +
		"ALTER TABLE deposits ADD CONSTRAINT has_room CHECK (room IS NOT NULL) NOT VALID;"
	validate := outside + "-- +goose Up\nALTER TABLE deposits VALIDATE CONSTRAINT has_room;"
	const set = "ALTER TABLE deposits ALTER COLUMN room SET NOT NULL"
	require.NotEmpty(t, check("", set, add), "not validated yet")
	require.Empty(t, check("", set, add, validate))
	require.NotEmpty(t, check("", "ALTER TABLE deposits ALTER COLUMN floor SET NOT NULL", add, validate), "another column")
}

// The examples of the guide, which the long test of upgrades runs.
func TestCheck_PassesTheExamples(t *testing.T) {
	t.Parallel()
	examples, err := expand.ReadMigrations(os.DirFS("testdata"))
	require.NoError(t, err)
	require.Len(t, examples, 2)
	require.Empty(t, expand.CheckMigrations(examples, 0, nil))
}

func TestFrozen_NamesEachReleasedMigrationThatDiffers(t *testing.T) {
	t.Parallel()
	const sum = "01ba4719c80b6fe911b091a7c05124b64eeece964e09c058ef8f9805daca546b" // of a line feed
	folder := fstest.MapFS{
		"releases.txt":    {Data: []byte("# name, commit, migration\n0 abc 2\n1.0.0 v1.0.0 4\n")},
		"released.sha256": {Data: []byte(sum + "  00001_a.sql\n" + sum + "  00002_b.sql\n" + sum + "  00004_d.sql\n")},
		"00001_a.sql":     {Data: []byte("\n")},
		"00002_b.sql":     {Data: []byte("changed\n")},
		"00003_c.sql":     {Data: []byte("\n")},
		"00005_e.sql":     {Data: []byte("\n")},
	}
	releases, err := expand.ReadReleases(folder)
	require.NoError(t, err)
	require.Equal(t, []expand.ServiceRelease{{"0", "abc", 2}, {"1.0.0", "v1.0.0", 4}}, releases)
	problems, err := expand.CheckReleasedMigrationsUnchanged(folder, 4)
	require.NoError(t, err)
	require.Len(t, problems, 3)
	require.Contains(t, problems[0].String(), "00002_b.sql: the migration is released")
	require.Contains(t, problems[1].String(), "00003_c.sql: the numbers up to 4 belong to releases")
	require.Contains(t, problems[2].String(), "00004_d.sql: the migration is released and is missing")

	folder["releases.txt"].Data = []byte("one two three\n")
	_, err = expand.ReadReleases(folder)
	require.ErrorContains(t, err, `"one two three" is no name, commit and number`)
}
