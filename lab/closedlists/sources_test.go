package closedlists_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/adapters/metrics"
	"partnerdeposits/lab/docstest"
	"partnerdeposits/lab/pgtest"
)

const root = "../../"

func read(t testing.TB, path string) string {
	t.Helper()
	content, err := os.ReadFile(root + path)
	require.NoError(t, err)
	return string(content)
}

// constants gives the values of the string constants that a folder declares with the given type.
func constants(t testing.TB, dir, typeName string) (values []string) {
	t.Helper()
	for _, file := range goFiles(t, dir) {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != len(spec.Names) {
				return true
			}
			if named, ok := spec.Type.(*ast.Ident); !ok || named.Name != typeName {
				return true
			}
			for _, value := range spec.Values {
				if literal, ok := value.(*ast.BasicLit); ok && literal.Kind == token.STRING {
					values = append(values, unquoted(t, literal))
				}
			}
			return true
		})
	}
	return values
}

// goFiles parses the Go files of a folder and of the folders below, without tests and generated files.
func goFiles(t testing.TB, dir string) []*ast.File {
	t.Helper()
	var files []*ast.File
	require.NoError(t, filepath.WalkDir(root+dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err == nil && !ast.IsGenerated(file) {
			files = append(files, file)
		}
		return err
	}))
	return files
}

// faults gives every code that a call of fault.New declares, with the kinds of the code.
func faults(t testing.TB) map[string][]string {
	t.Helper()
	kinds := map[string][]string{}
	for _, dir := range docstest.LayerFolders() {
		for _, file := range goFiles(t, dir) {
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || len(call.Args) != 3 || !isFaultNew(call.Fun, file.Name.Name) {
					return true
				}
				kind := call.Args[0]
				if selected, ok := kind.(*ast.SelectorExpr); ok {
					kind = selected.Sel
				}
				literal, ok := call.Args[1].(*ast.BasicLit)
				require.True(t, ok, "a fault without a literal code in package %s", file.Name.Name)
				code := unquoted(t, literal)
				if name := kind.(*ast.Ident).Name; !slices.Contains(kinds[code], name) {
					kinds[code] = append(kinds[code], name)
				}
				return true
			})
		}
	}
	return kinds
}

func isFaultNew(fun ast.Expr, pkg string) bool {
	switch f := fun.(type) {
	case *ast.SelectorExpr:
		x, ok := f.X.(*ast.Ident)
		return ok && x.Name == "fault" && f.Sel.Name == "New"
	case *ast.Ident:
		return pkg == "fault" && f.Name == "New"
	}
	return false
}

func unquoted(t testing.TB, literal *ast.BasicLit) string {
	t.Helper()
	value, err := strconv.Unquote(literal.Value)
	require.NoError(t, err)
	return value
}

// document gives the OpenAPI document as JSON values.
func document(t testing.TB) any {
	t.Helper()
	doc, err := partnerapi.OpenAPIDocument()
	require.NoError(t, err)
	encoded, err := json.Marshal(doc)
	require.NoError(t, err)
	var values any
	require.NoError(t, json.Unmarshal(encoded, &values))
	return values
}

// valueAt follows a path like components/schemas/Metadata/maxProperties. A parameter is found by its name.
func valueAt(t testing.TB, doc any, path string) any {
	t.Helper()
	for segment := range strings.SplitSeq(path, "/") {
		segment = strings.ReplaceAll(segment, "~1", "/")
		switch v := doc.(type) {
		case map[string]any:
			doc = v[segment]
		case []any:
			i := slices.IndexFunc(v, func(e any) bool { return e.(map[string]any)["name"] == segment })
			require.GreaterOrEqual(t, i, 0, "%s: no %s", path, segment)
			doc = v[i]
		}
		require.NotNil(t, doc, "%s: no %s", path, segment)
	}
	return doc
}

// enums gives every enum of the OpenAPI document by path.
func enums(doc any) map[string][]string {
	found := map[string][]string{}
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch v := value.(type) {
		case map[string]any:
			if list, ok := v["enum"].([]any); ok {
				for _, e := range list {
					found[path] = append(found[path], fmt.Sprint(e))
				}
			}
			for key, below := range v {
				walk(strings.TrimPrefix(path+"/"+strings.ReplaceAll(key, "/", "~1"), "/"), below)
			}
		case []any:
			for i, below := range v {
				key := strconv.Itoa(i)
				if named, ok := below.(map[string]any); ok && named["name"] != nil {
					key = fmt.Sprint(named["name"])
				}
				walk(path+"/"+key, below)
			}
		}
	}
	walk("", doc)
	return found
}

// checks gives the lists of texts in the CHECK constraints of a migrated database, as "table.column", and in functions
// that constraints call, as "function.parameter". The database is asked, and not the migration files, since a later
// migration may replace a constraint.
func checks(t testing.TB) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	rows, err := pgtest.New(t).Query(t.Context(), `
		SELECT conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint
		WHERE contype = 'c' AND connamespace = 'public'::regnamespace AND coninhcount = 0
		UNION ALL
		SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace
			AND EXISTS (SELECT FROM pg_constraint WHERE contype = 'c'
			AND pg_get_constraintdef(pg_constraint.oid) LIKE '%' || proname || '(%')`)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var owner, text string
		require.NoError(t, rows.Scan(&owner, &text))
		for _, list := range sqlList.FindAllStringSubmatch(text, -1) {
			name := owner + "." + list[1]
			if entries := quoted(list[2]); len(found[name]) < len(entries) {
				found[name] = entries
			}
		}
	}
	require.NoError(t, rows.Err())
	return found
}

// quoted gives the texts between single quotes.
func quoted(sql string) (all []string) {
	for _, entry := range sqlText.FindAllStringSubmatch(sql, -1) {
		all = append(all, entry[1])
	}
	return all
}

var (
	// sqlList matches `column = ANY (ARRAY['a'::text, …])`, as Postgres prints a constraint, and `column IN ('a', …)`, as
	// a function's source says.
	sqlList = regexp.MustCompile(`(\w+) (?:= ANY \(+ARRAY\[|IN \()('[^\])]*)[\])]`)
	sqlText = regexp.MustCompile(`'([^']*)'`)
)

// sqlNumbers gives the numbers that a constraint of the table compares with the column or expression.
func sqlNumbers(t testing.TB, table, expression string) []string {
	t.Helper()
	rows, err := pgtest.New(t).Query(t.Context(), `
		SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'c' AND conrelid = $1::text::regclass
		UNION ALL SELECT prosrc FROM pg_proc WHERE proname = 'deposit_is_sound' AND $1::text = 'deposits'`, table)
	require.NoError(t, err)
	defer rows.Close()
	compared := regexp.MustCompile(`\b` + regexp.QuoteMeta(expression) + `\)? (?:[<>=]+|<> ALL) \(?'?([0-9]+)`)
	var found []string
	for rows.Next() {
		var text string
		require.NoError(t, rows.Scan(&text))
		for _, m := range compared.FindAllStringSubmatch(text, -1) {
			found = append(found, m[1])
		}
	}
	require.NoError(t, rows.Err())
	return found
}

// labels gives the values of a label in the series that exist from the start.
func labels(r *metrics.Registry, metric, label string) (values []string) {
	w := httptest.NewRecorder()
	r.Handler(false).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	series := regexp.MustCompile(`(?m)^` + metric + `(?:_count)?\{(?:[^}]*,)?` + label + `="([^"]*)"`)
	for _, m := range series.FindAllStringSubmatch(w.Body.String(), -1) {
		values = append(values, m[1])
	}
	slices.Sort(values)
	return slices.Compact(values)
}
