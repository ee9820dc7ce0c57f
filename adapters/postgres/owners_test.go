package postgres_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/storetest"
)

var (
	ownersRow  = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (\\w+) \\|$")
	foreignRow = regexp.MustCompile("(?m)^\\| (\\w+) \\| (reads|writes) \\| (`[^|]+`) \\| [^|]+ \\|$")
	triggerRow = regexp.MustCompile("(?m)^\\| `(\\w+)` on `(\\w+)` \\| [^|]+ \\|$")
	written    = regexp.MustCompile(`\b(?:INSERT INTO|UPDATE|DELETE FROM)\s+(\w+)`)
	named      = regexp.MustCompile(`\b\w+\b`)
)

// moduleOf gives the module of a file below adapters/postgres; "" for one that belongs to none.
func moduleOf(path string) string {
	switch folder, _, _ := strings.Cut(path, "/"); folder {
	case "accounts", "deposits", "partners", "payments", "platform", "webhooks":
		return folder
	}
	return ""
}

// uses are the tables that a module reads or writes.
type uses struct{ reads, writes map[string]bool }

// note adds the tables that a text of SQL names.
func (u uses) note(sql string, tables map[string]string) {
	for _, m := range written.FindAllStringSubmatch(sql, -1) {
		if tables[m[1]] != "" {
			u.writes[m[1]] = true
		}
	}
	if !regexp.MustCompile(`\b(FROM|JOIN|INTO|UPDATE)\b`).MatchString(sql) {
		return
	}
	for _, name := range named.FindAllString(sql, -1) {
		if tables[name] != "" {
			u.reads[name] = true
		}
	}
}

// usesOf reads the SQL of every module: the string literals of its Go files, and its queries.
func usesOf(t *testing.T, tables map[string]string) map[string]uses {
	t.Helper()
	all := map[string]uses{}
	require.NoError(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		module := moduleOf(filepath.ToSlash(path))
		if err != nil || entry.IsDir() || module == "" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		if all[module].reads == nil {
			all[module] = uses{map[string]bool{}, map[string]bool{}}
		}
		if strings.HasSuffix(path, ".sql") {
			text, err := os.ReadFile(path)
			all[module].note(regexp.MustCompile(`(?m)--.*$`).ReplaceAllString(string(text), ""), tables)
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				text, _ := strconv.Unquote(literal.Value)
				all[module].note(text, tables)
			}
			return true
		})
		return nil
	}))
	return all
}

// A table is written by one module. What else a module reads or writes of another's tables stands in OWNERS.md.
func TestTables_AreUsedByOthersAsOwnersSays(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("OWNERS.md")
	require.NoError(t, err)
	tables := map[string]string{}
	for _, m := range ownersRow.FindAllStringSubmatch(string(page), -1) {
		require.Empty(t, tables[m[1]], "%s stands twice", m[1])
		tables[m[1]] = m[2]
	}
	var listed, found []string
	for _, m := range foreignRow.FindAllStringSubmatch(string(page), -1) {
		for _, table := range regexp.MustCompile(`\w+`).FindAllString(m[3], -1) {
			listed = append(listed, m[1]+" "+m[2]+" "+table)
		}
	}
	for module, u := range usesOf(t, tables) {
		for table := range u.writes {
			if tables[table] != module {
				found = append(found, module+" writes "+table)
			}
		}
		for table := range u.reads {
			if tables[table] != module && !u.writes[table] {
				found = append(found, module+" reads "+table)
			}
		}
	}
	slices.Sort(listed)
	slices.Sort(found)
	require.Equal(t, strings.Join(found, "\n"), strings.Join(listed, "\n"))
}

// The list of tables and triggers is that of the schema.
func TestOwners_NameEveryTableAndTrigger(t *testing.T) {
	t.Parallel()
	pool := storetest.Pool(t, pgtest.URL(t), postgres.PoolOptions{})
	page, err := os.ReadFile("OWNERS.md")
	require.NoError(t, err)
	tables, triggers := map[string]bool{}, map[string]bool{}
	for _, m := range ownersRow.FindAllStringSubmatch(string(page), -1) {
		tables[m[1]] = true
	}
	for _, m := range triggerRow.FindAllStringSubmatch(string(page), -1) {
		triggers[m[1]+" on "+m[2]] = true
	}
	names := func(sql string) (all []string) {
		require.NoError(t, pool.QueryRow(t.Context(), sql).Scan(&all))
		return all
	}
	require.ElementsMatch(t,
		names(`SELECT array_agg(relname::text) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = 'public' AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> 'goose_db_version'`),
		slices.Collect(maps.Keys(tables)))
	require.ElementsMatch(t, names(`SELECT coalesce(array_agg(tgname || ' on ' || tgrelid::regclass), '{}')
		FROM pg_trigger WHERE NOT tgisinternal AND tgparentid = 0`), slices.Collect(maps.Keys(triggers)))
}
