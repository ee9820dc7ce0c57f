package postgres_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
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
	written = regexp.MustCompile(`\b(INSERT|UPDATE|DELETE)(?: INTO| FROM)?\s+(\w+)`)
	named   = regexp.MustCompile(`\b\w+\b`)
)

// moduleOf gives the module of a file below adapters/postgres; "" for one that belongs to none.
func moduleOf(path string) string {
	switch folder, _, _ := strings.Cut(path, "/"); folder {
	case "accounts", "deposits", "partners", "payments", "platform", "webhooks":
		return folder
	}
	return ""
}

// uses are the tables that a module reads or writes, and its writes by verb, such as "INSERT ON outbox".
type uses struct{ reads, writes, changes map[string]bool }

// note adds the tables that a text of SQL names.
func (u uses) note(sql string, tables map[string]string) {
	for _, m := range written.FindAllStringSubmatch(sql, -1) {
		if tables[m[2]] != "" {
			u.writes[m[2]], u.changes[m[1]+" ON "+m[2]] = true, true
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
			all[module] = uses{map[string]bool{}, map[string]bool{}, map[string]bool{}}
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

// A table is written by one module. What else a module reads or writes of another's tables stands in foreigners.
func TestTables_AreUsedByOthersAsListed(t *testing.T) {
	t.Parallel()
	tables := ownerOf()
	var listed, found []string
	for _, f := range foreigners {
		require.NotEmpty(t, f.reason, f.module+f.tables)
		for table := range strings.FieldsSeq(f.tables) {
			listed = append(listed, f.module+" "+f.verb+" "+table)
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
	pool := storetest.NewPool(t, pgtest.NewDatabaseURL(t), postgres.PoolOptions{})
	names := func(sql string) (all []string) {
		require.NoError(t, pool.QueryRow(t.Context(), sql).Scan(&all))
		return all
	}
	require.ElementsMatch(t,
		names(`SELECT array_agg(relname::text) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = 'public' AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> 'goose_db_version'`),
		slices.Collect(maps.Keys(ownerOf())))
	require.ElementsMatch(t, names(`SELECT coalesce(array_agg(tgname || ' on ' || tgrelid::regclass), '{}')
		FROM pg_trigger WHERE NOT tgisinternal AND tgparentid = 0`), slices.Collect(maps.Keys(triggers)))
}

const root = "partnerdeposits/adapters/postgres"

// importOrder lists the packages of adapters/postgres in levels, the highest level first. A package imports only
// packages of lower levels, so no cycle and no upward import can arise.
var importOrder = [][]string{
	{".", "groupcommit"},
	{"accounts", "deposits", "payments", "webhooks", "webhooks/dispatchstore"},
	{"partners", "platform"}, // partners keep the clients of an event from being erased before its commit
	{"internal/lists", "internal/sets"},
	{"internal/pg"},
	{
		"codec", "migrations",
		"accounts/internal/sqlc", "deposits/internal/sqlc", "partners/internal/sqlc", "payments/internal/sqlc",
		"platform/internal/sqlc", "webhooks/internal/sqlc",
	},
}

// violations returns a line for each package that importOrder does not list, and for each import that does not lead to
// a lower level. imports maps a package to its imports; both are paths below adapters/postgres.
func violations(imports map[string][]string) (found []string) {
	levels := map[string]int{}
	for level, packages := range importOrder {
		for _, name := range packages {
			levels[name] = level
		}
	}
	for from, all := range imports {
		level, listed := levels[from]
		if !listed {
			found = append(found, from+" is not in importOrder")
			continue
		}
		for _, to := range all {
			if lower, listed := levels[to]; !listed || lower <= level {
				found = append(found, fmt.Sprintf("%s imports %s", from, to))
			}
		}
	}
	return found
}

func TestImports_LeadToLowerPackages(t *testing.T) {
	t.Parallel()
	imports := map[string][]string{}
	require.NoError(t, filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		from := filepath.ToSlash(filepath.Dir(name))
		if imports[from] == nil {
			imports[from] = []string{}
		}
		for _, spec := range file.Imports {
			to, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if to == root || strings.HasPrefix(to, root+"/") {
				imports[from] = append(imports[from], path.Clean("./"+strings.TrimPrefix(to, root)))
			}
		}
		return nil
	}))
	require.Contains(t, imports["."], "deposits")
	require.Empty(t, violations(imports))
}

// A table that New of its module leaves out compiles, and panics at its first use.
func TestTables_AreFilledByNew(t *testing.T) {
	t.Parallel()
	store, _ := storetest.New(t, postgres.Options{})
	checked := 0
	modules := reflect.ValueOf(store).Elem()
	for i := range modules.NumField() {
		tables := modules.Field(i)
		if tables.Type().Name() != "Stores" {
			continue
		}
		for k := range tables.NumField() {
			checked++
			name := tables.Type().PkgPath() + ": Tables." + tables.Type().Field(k).Name
			require.False(t, tables.Field(k).IsZero(), "New leaves out %s", name)
		}
	}
	require.Greater(t, checked, 25)
}
