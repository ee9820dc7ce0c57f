package wire_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
)

const module = "partnerdeposits/"

// A field that the wiring forgets compiles, and panics at its first use. A field that may stay empty says so beside it:
// what nil or the zero value means.
func TestDeps_AreFilledWhole(t *testing.T) {
	t.Parallel()
	var forgotten []string
	literals := 0
	for _, file := range append(parsed(t, "."), parsed(t, "../services")...) {
		imports := map[string]string{} // name -> folder
		for _, i := range file.Imports {
			full := strings.Trim(i.Path.Value, `"`)
			name := path.Base(full)
			if i.Name != nil {
				name = i.Name.Name
			}
			imports[name] = strings.TrimPrefix(full, module)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			selected, ok := literal.Type.(*ast.SelectorExpr)
			if !ok || !strings.HasSuffix(selected.Sel.Name, "Deps") {
				return true
			}
			literals++
			given := map[string]bool{}
			for _, e := range literal.Elts {
				given[e.(*ast.KeyValueExpr).Key.(*ast.Ident).Name] = true
			}
			folder := imports[selected.X.(*ast.Ident).Name]
			for _, field := range required(t, folder, selected.Sel.Name) {
				if !given[field] {
					forgotten = append(forgotten, folder+": "+selected.Sel.Name+"."+field)
				}
			}
			return true
		})
	}
	require.Empty(t, forgotten)
	require.Greater(t, literals, 15)
}

// parsed gives the files of a package.
func parsed(t *testing.T, folder string) (files []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		require.NoError(t, err)
		files = append(files, file)
	}
	return files
}

// required gives the fields of a struct that do not say what an empty one means.
func required(t *testing.T, folder, name string) (fields []string) {
	t.Helper()
	mayBeEmpty := regexp.MustCompile(`\bnil\b|\bzero\b|""|\b0\b`)
	for _, file := range parsed(t, filepath.Join(docstest.RepositoryRoot(), folder)) {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || spec.Name.Name != name {
				return true
			}
			for _, f := range spec.Type.(*ast.StructType).Fields.List {
				if mayBeEmpty.MatchString(f.Doc.Text() + f.Comment.Text()) {
					continue
				}
				for _, n := range f.Names {
					fields = append(fields, n.Name)
				}
			}
			return false
		})
	}
	return fields
}
