package postgres_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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

func TestViolations(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from, to string
		want     []string
	}{
		"downwards":         {".", "internal/pg", nil},
		"upwards":           {"internal/pg", "internal/sets", []string{"internal/pg imports internal/sets"}},
		"to the top":        {"codec", ".", []string{"codec imports ."}},
		"on the same level": {"groupcommit", ".", []string{"groupcommit imports ."}},
		"to a new package":  {".", "internal/new", []string{". imports internal/new"}},
		"of a new package":  {"internal/new", "internal/pg", []string{"internal/new is not in importOrder"}},
	} {
		require.Equal(t, c.want, violations(map[string][]string{c.from: {c.to}}), name)
	}
}
