// Command mutants measures how many deliberate mistakes in the packages of core their tests notice. gremlins
// breaks each condition, sum and count of a package, one at a time, and runs the package's own tests. A broken
// form is a mutant: a test that fails kills it.
//
//	mutants                every package of core
//	mutants deposit money
//
// The exit code is 1 when tests run, or kill, fewer mutants than required. Mutants that live, that no test runs,
// or whose tests hung, are listed; a hung mutant counts as alive. Coverage has no block for the expressions of a
// case, so mutants in them count as not run.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// required is the percentage of the mutants that tests must run, and of those that they must kill.
const required = 95

const (
	// -count=1: gremlins derives the time limit of a mutant from the duration of the tests.
	flags = "-buildvcs=false -count=1 -trimpath -vet=off '-ldflags=-s -w'"
	// timeout is a mutant's time limit as a multiple of the tests' duration; memory is in KiB. A mutant may use
	// either without end.
	timeout, memory = "10", "6000000"
	// hasty is a Go file that ends failing property tests quickly: the library rapid would shrink a counterexample
	// for half a minute and store it.
	hasty = `package %s_test

import (
	"flag"

	_ "pgregory.net/rapid"
)

func init() {
	_ = flag.Set("rapid.shrinktime", "0s")
	_ = flag.Set("rapid.nofailfile", "true")
}
`
)

var errFew = fmt.Errorf("less than %d %%", required)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(packages []string) error {
	tools := exec.Command("scripts/tools.sh", "gremlins")
	tools.Stdout, tools.Stderr = os.Stdout, os.Stderr
	if err := tools.Run(); err != nil {
		return err
	}
	gremlins, err := filepath.Abs(".local/bin/gremlins")
	if err != nil {
		return err
	}
	if len(packages) == 0 {
		// Glob never fails here: the pattern is well-formed.
		files, _ := filepath.Glob("core/*/*.go")
		for _, file := range files {
			packages = append(packages, filepath.Base(filepath.Dir(file)))
		}
		packages = slices.Compact(packages)
	}
	tree, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tree) }()
	if err := plant(tree, packages); err != nil {
		return err
	}
	var all tally
	fmt.Println("package        mutants  covered   killed  hung")
	for _, name := range packages {
		t, err := mutate(gremlins, tree, name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Printf("%-14s %7d  %5.1f %%  %5.1f %%  %4d\n", name, t.all(), t.covered(), t.dead(), t.hung)
		all = tally{all.killed + t.killed, all.lived + t.lived, all.hung + t.hung, all.missed + t.missed}
	}
	fmt.Printf("figure: %d mutants of core, %.1f %% covered by tests, %.1f %% of these killed\n",
		all.all(), all.covered(), all.dead())
	if min(all.covered(), all.dead()) < required {
		return errFew
	}
	return nil
}

// plant copies the files of core's tests into a small Go module, because gremlins copies the whole module for each
// worker.
func plant(tree string, packages []string) (err error) {
	for _, folder := range []string{"core", "docs", "sdk/vectors"} {
		err = errors.Join(err, os.CopyFS(filepath.Join(tree, folder), os.DirFS(folder)))
	}
	for _, file := range []string{"go.mod", "go.sum"} {
		text, failed := os.ReadFile(file)
		err = errors.Join(err, failed, os.WriteFile(filepath.Join(tree, file), text, 0o600))
	}
	for _, name := range packages {
		text := fmt.Sprintf(hasty, name)
		err = errors.Join(err, os.WriteFile(filepath.Join(tree, "core", name, "hasty_test.go"), []byte(text), 0o600))
	}
	return err
}

// tally counts the mutants by outcome: missed ones ran in no test, hung ones did not end.
type tally struct{ killed, lived, hung, missed int }

func (t tally) run() int         { return t.killed + t.lived + t.hung }
func (t tally) all() int         { return t.run() + t.missed }
func (t tally) covered() float64 { return share(t.run(), t.all()) }
func (t tally) dead() float64    { return share(t.killed, t.run()) }

func share(part, whole int) float64 {
	if whole == 0 {
		return 100
	}
	return 100 * float64(part) / float64(whole)
}

// mutate runs gremlins on a package of core, and counts its mutants by outcome.
func mutate(gremlins, tree, name string) (t tally, err error) {
	out := filepath.Join(tree, name+".json")
	cmd := exec.Command("sh", "-c", `ulimit -v "$1" && shift && exec "$@"`, "sh", memory, gremlins, "unleash", "--silent",
		"--timeout-coefficient", timeout, "--output", out, "./core/"+name)
	cmd.Dir, cmd.Env = tree, append(os.Environ(), "GOFLAGS="+flags, "CGO_ENABLED=0")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return t, err
	}
	text, err := os.ReadFile(out)
	// gremlins writes no report for a package without a condition.
	if errors.Is(err, os.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return t, err
	}
	var report struct {
		Files []struct {
			Name      string `json:"file_name"`
			Mutations []struct {
				Type, Status string
				Line, Column int
			}
		}
	}
	if err := json.Unmarshal(text, &report); err != nil {
		return t, err
	}
	for _, file := range report.Files {
		path := filepath.Join("core", name, file.Name)
		inFunction, err := functions(path)
		if err != nil {
			return t, err
		}
		for _, m := range file.Mutations {
			switch {
			case m.Status == "KILLED":
				t.killed++
				continue
			case m.Status == "LIVED":
				t.lived++
			case m.Status == "TIMED OUT":
				t.hung++
			case inFunction(m.Line):
				t.missed++
			// The pattern skips mutants in constants and package variables, which coverage cannot show.
			default:
				continue
			}
			fmt.Printf("%s:%d:%d: %s, %s\n", path, m.Line, m.Column, m.Status, m.Type)
		}
	}
	return t, nil
}

// The result of functions reports whether a line of a Go file lies inside a function.
func functions(path string) (in func(line int) bool, err error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return func(line int) bool {
		return slices.ContainsFunc(file.Decls, func(d ast.Decl) bool {
			_, is := d.(*ast.FuncDecl)
			return is && set.Position(d.Pos()).Line <= line && line <= set.Position(d.End()).Line
		})
	}, nil
}
