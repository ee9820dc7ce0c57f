package app_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A use case is handed no table, and nothing else, that it does not use: what it may touch stands in its Deps.
func TestDeps_NameNothingThatIsNotUsed(t *testing.T) {
	t.Parallel()
	checked := 0
	var unused []string
	require.NoError(t, filepath.WalkDir(".", func(folder string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		fields, code := depsOf(t, folder)
		for _, field := range fields {
			checked++
			if !regexp.MustCompile(`\b(deps|d)\.` + field + `\b`).MatchString(code) {
				unused = append(unused, folder+": Deps."+field)
			}
		}
		return nil
	}))
	require.Empty(t, unused)
	require.Greater(t, checked, 150)
}

// depsOf gives the names of the fields of Deps in a folder, and the code of its files.
func depsOf(t *testing.T, folder string) (fields []string, code string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		code += regexp.MustCompile(`(?m)//.*$`).ReplaceAllString(string(text), "")
		file, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || spec.Name.Name != "Deps" {
				return true
			}
			for _, f := range spec.Type.(*ast.StructType).Fields.List {
				for _, name := range f.Names {
					fields = append(fields, name.Name)
				}
			}
			return false
		})
	}
	return fields, code
}
