package docs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
	"partnerdeposits/lab/procs"
)

const logLinesPage = "docs/runbooks/log-lines.md"

// unknownPart stands for the part of a message that is known only when the line is logged.
const unknownPart = "…"

// callsOf finds the calls of all functions of some packages.
type callsOf struct {
	fset  *token.FileSet
	calls map[string][]logCall // by the full name of the function that is called
}

// logCall is a call inside a function.
type logCall struct {
	info *types.Info
	in   *ast.FuncDecl
	expr *ast.CallExpr
}

// warnings maps each function that logs a warning or an error to the index of its message.
var warnings = map[string]int{}

func init() {
	for _, prefix := range []string{"(*log/slog.Logger).", "log/slog."} {
		for name, index := range map[string]int{"Warn": 0, "WarnContext": 1, "Error": 0, "ErrorContext": 1} {
			warnings[prefix+name] = index
		}
	}
}

type listedPackage struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	Module                  *struct{ Main bool }
}

// linkedPackages lists the packages of the binaries, with compiled libraries.
func linkedPackages(t *testing.T, commands ...string) []listedPackage {
	t.Helper()
	list := procs.Command(t.Context(), "go",
		append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Module"}, commands...)...)
	list.Dir = docstest.Root()
	list.Stderr = os.Stderr
	out, err := list.Output()
	require.NoError(t, err)
	var packages []listedPackage
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listedPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		}
		require.NoError(t, err)
		packages = append(packages, p)
	}
}

// read type-checks the repository's own packages and collects their calls.
func read(t *testing.T, packages []listedPackage) callsOf {
	t.Helper()
	exports := map[string]string{}
	for _, p := range packages {
		exports[p.ImportPath] = p.Export
	}
	c := callsOf{fset: token.NewFileSet(), calls: map[string][]logCall{}}
	imports := importer.ForCompiler(c.fset, "gc",
		func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, p := range packages {
		if p.Module == nil || !p.Module.Main {
			continue
		}
		var files []*ast.File
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(c.fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			files = append(files, file)
		}
		c.check(t, p.ImportPath, files, imports)
	}
	return c
}

func (c callsOf) check(t *testing.T, path string, files []*ast.File, imports types.Importer) {
	t.Helper()
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
		Uses: map[*ast.Ident]types.Object{}}
	_, err := (&types.Config{Importer: imports}).Check(path, c.fset, files, info)
	require.NoError(t, err)
	for _, file := range files {
		for _, declared := range file.Decls {
			function, _ := declared.(*ast.FuncDecl) // nil: calls outside functions
			ast.Inspect(declared, func(n ast.Node) bool {
				if call, is := n.(*ast.CallExpr); is {
					if name := calledName(info, call); name != "" {
						c.calls[name] = append(c.calls[name], logCall{info, function, call})
					}
				}
				return true
			})
		}
	}
}

func calledName(info *types.Info, call *ast.CallExpr) string {
	var name *ast.Ident
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		name = f
	case *ast.SelectorExpr:
		name = f.Sel
	default:
		return ""
	}
	if function, is := info.Uses[name].(*types.Func); is {
		return function.Origin().FullName()
	}
	return ""
}

// lines gives the messages of all warnings and errors, with the places that log them.
func (c callsOf) lines(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	add := func(call logCall, message ast.Expr) {
		for _, text := range c.texts(call, message, 0) {
			if strings.HasPrefix(text.value, "still: ") { // outage.Log repeats the message
				continue
			}
			place := c.fset.Position(text.from)
			relative, err := filepath.Rel(docstest.Root(), place.Filename)
			require.NoError(t, err)
			found[text.value] = append(found[text.value], fmt.Sprintf("%s:%d", filepath.ToSlash(relative), place.Line))
		}
	}
	for name, index := range warnings {
		for _, call := range c.calls[name] {
			add(call, call.expr.Args[index])
		}
	}
	const level, message = 1, 2
	for _, name := range []string{"(*log/slog.Logger).Log", "(*log/slog.Logger).LogAttrs", "log/slog.Log",
		"log/slog.LogAttrs"} {
		for _, call := range c.calls[name] {
			if c.highest(t, call, call.expr.Args[level]) >= slog.LevelWarn {
				add(call, call.expr.Args[message])
			}
		}
	}
	return found
}

// text is a value of an expression, and the call that passes it.
type text struct {
	value string
	from  token.Pos
}

// texts gives the values of an expression. A parameter has the values that the callers of the function pass.
func (c callsOf) texts(call logCall, expr ast.Expr, depth int) []text {
	expr = ast.Unparen(expr)
	if value := call.info.Types[expr].Value; value != nil && value.Kind() == constant.String {
		return []text{{constant.StringVal(value), call.expr.Pos()}}
	}
	switch e := expr.(type) {
	case *ast.BinaryExpr:
		var all []text
		for _, left := range c.texts(call, e.X, depth) {
			for _, right := range c.texts(call, e.Y, depth) {
				all = append(all, text{left.value + right.value, from(left, right, call)})
			}
		}
		return all
	case *ast.Ident:
		if function, index := parameter(call, e); index >= 0 && depth < 5 {
			var all []text
			for _, caller := range c.calls[function] {
				all = append(all, c.texts(caller, caller.expr.Args[index], depth+1)...)
			}
			return all
		}
	}
	return []text{{unknownPart, call.expr.Pos()}}
}

// from prefers the side that another call passes.
func from(left, right text, call logCall) token.Pos {
	if left.from != call.expr.Pos() {
		return left.from
	}
	return right.from
}

// parameter gives the function of which name is a parameter, and the index of the parameter; -1 for another name.
func parameter(call logCall, name *ast.Ident) (function string, index int) {
	if call.in == nil {
		return "", -1
	}
	declared := call.info.Defs[call.in.Name].(*types.Func)
	parameters := declared.Signature().Params()
	for i := range parameters.Len() {
		if call.info.Uses[name] == parameters.At(i) {
			return declared.FullName(), i
		}
	}
	return "", -1
}

// highest gives the highest level that an expression may have: a constant, or a variable that gets constants only.
func (c callsOf) highest(t *testing.T, call logCall, expr ast.Expr) slog.Level {
	t.Helper()
	values := []ast.Expr{expr}
	if name, is := expr.(*ast.Ident); is && call.info.Types[expr].Value == nil {
		values = nil
		ast.Inspect(call.in, func(n ast.Node) bool {
			if assigned, is := n.(*ast.AssignStmt); is && len(assigned.Lhs) == len(assigned.Rhs) {
				for i, left := range assigned.Lhs {
					target, _ := left.(*ast.Ident)
					if target != nil &&
						(call.info.Defs[target] == call.info.Uses[name] || call.info.Uses[target] == call.info.Uses[name]) {
						values = append(values, assigned.Rhs[i])
					}
				}
			}
			return true
		})
	}
	highest := slog.LevelDebug
	require.NotEmpty(t, values, "%s: the level of a log line is a constant, or a variable that gets constants",
		c.fset.Position(call.expr.Pos()))
	for _, value := range values {
		level := call.info.Types[value].Value
		require.NotNil(t, level, "%s: the level of a log line is a constant, or a variable that gets constants",
			c.fset.Position(call.expr.Pos()))
		number, exact := constant.Int64Val(level)
		require.True(t, exact)
		highest = max(highest, slog.Level(number))
	}
	return highest
}

// describedLines gives the messages of the page, with the other cells of their rows.
func describedLines(t *testing.T, page string) map[string][]string {
	t.Helper()
	described := map[string][]string{}
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		message := strings.TrimSpace(strings.Trim(strings.TrimSpace(cells[0]), "`"))
		require.Len(t, cells, 3, "%s: a row has the message, its meaning and the act: %s", logLinesPage, line)
		require.NotContains(t, described, message, "%s: described twice", logLinesPage)
		described[message] = cells[1:]
	}
	return described
}

// code is a message as a code span.
func code(message string) string {
	if strings.Contains(message, "`") {
		return "`` " + message + " ``"
	}
	return "`" + message + "`"
}

func TestLogLines_EachWarningAndErrorIsDescribed(t *testing.T) {
	logged := read(t, linkedPackages(t, "./cmd/http", "./cmd/dispatcher", "./cmd/admin")).lines(t)
	require.Greater(t, len(logged), 40)
	described := describedLines(t, docstest.Read(t, logLinesPage))
	for _, message := range slices.Sorted(maps.Keys(logged)) {
		if strings.Trim(message, unknownPart+" ") == "" {
			t.Errorf("%s: the message of a warning or an error begins with or contains a constant", logged[message])
			continue
		}
		if described[message] == nil {
			t.Errorf("%s logs a line that %s does not describe. Add the row:\n| %s | <meaning> | <what to do> |",
				logged[message], logLinesPage, code(message))
		}
	}
	for message, cells := range described {
		if logged[message] == nil {
			t.Errorf("%s describes a line that nothing logs any more. Remove the row:\n| %s | …", logLinesPage, code(message))
		}
		for _, cell := range cells {
			require.NotEmpty(t, strings.Trim(cell, "<> "), message)
		}
	}
}

func TestLogLines_MessagesAreFoundThroughParametersAndConstants(t *testing.T) {
	const source = `package p
import ("context"; "log/slog")
const away = "the queue is away"
type x struct { log *slog.Logger; name string }
func (y x) complain(what string) { y.log.WarnContext(context.Background(), "cannot " + what) }
func (y x) deeper(what string) { y.complain(what + " rows") }
func (y x) all(ctx context.Context) {
	y.complain("read"); y.deeper("write")
	func() { y.log.Error(away, "a", 1) }()
	y.log.Warn(y.name + " failed")
	y.log.Info("quiet"); slog.Error("loud")
	level := slog.LevelInfo
	y.log.LogAttrs(ctx, level, "variable")
	other := slog.LevelInfo
	if y.name == "" { other = slog.LevelError }
	y.log.LogAttrs(ctx, other, "sometimes"); y.log.Log(ctx, slog.LevelWarn, "level")
}
func (x) Error(string) {}
func (y x) still(message string) { y.Error("not a log line"); y.log.Warn("still: " + message) }
func (y x) again() { y.still("x") }
`
	c := callsOf{fset: token.NewFileSet(), calls: map[string][]logCall{}}
	file, err := parser.ParseFile(c.fset, filepath.Join(docstest.Root(), "p.go"), source, parser.SkipObjectResolution)
	require.NoError(t, err)
	exports := map[string]string{}
	for _, p := range linkedPackages(t, "log/slog", "context") {
		exports[p.ImportPath] = p.Export
	}
	c.check(t, "p", []*ast.File{file},
		importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }))
	require.Equal(t,
		[]string{"cannot read", "cannot write rows", "level", "loud", "sometimes", "the queue is away", "… failed"},
		slices.Sorted(maps.Keys(c.lines(t))))
}
