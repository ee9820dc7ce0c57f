// Command words counts the words that hide a noun (list counted) in the comments of each top-level folder, and in the
// prose of README and docs/. The exit status is 1 if a text holds too many of those words.
//
// Usage, in the root of the repository:
//
//	words                        the table
//	words -packages [FOLDER…]    a line for each package
//	words -random 10 FOLDER…     ten comments, to be read without their code
package main

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

var (
	folders = []string{"app", "core", "ports", "adapters", "cmd"}
	docs    = []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "docs"}
)

func main() {
	packages := flag.Bool("packages", false, "a line for each package")
	random := flag.Int("random", 0, "print this many comments, taken at random")
	seed := flag.Uint64("seed", rand.Uint64(), "choose the same comments again")
	flag.Parse()
	ok, err := run(os.Stdout, flag.Args(), *packages, *random, *seed)
	if err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

// run prints a table or a sample, and reports whether all texts keep the bounds.
func run(out io.Writer, paths []string, packages bool, random int, seed uint64) (bool, error) {
	if random > 0 {
		return true, sample(out, paths, random, seed)
	}
	ok := true
	heading(out)
	if len(paths) > 0 {
		return ok, lines(out, paths, packages, &ok)
	}
	if err := lines(out, folders, packages, &ok); err != nil {
		return false, err
	}
	texts, err := collectAll(docs)
	if err != nil {
		return false, err
	}
	ok = line(out, "docs (prose)", texts) && ok
	if !ok {
		fmt.Fprintln(out, "!  more than the bound: name the thing (docs/glossary.md)")
	}
	return ok, nil
}

func heading(out io.Writer) {
	fmt.Fprintf(out, "%-44s %8s", "per 1,000 words", "words")
	for _, c := range counted {
		fmt.Fprintf(out, "  %12s", fmt.Sprintf("%s ≤ %g", c.word, c.most))
	}
	fmt.Fprintln(out)
}

// lines prints a line for each folder, or for each package below the folders. ok becomes false if a bound is broken.
func lines(out io.Writer, paths []string, packages bool, ok *bool) error {
	for _, path := range paths {
		texts, err := collect(path)
		if err != nil {
			return err
		}
		if packages {
			byPackage := map[string][]comment{}
			for _, c := range texts {
				byPackage[filepath.Dir(c.File)] = append(byPackage[filepath.Dir(c.File)], c)
			}
			names := make([]string, 0, len(byPackage))
			for name := range byPackage {
				names = append(names, name)
			}
			slices.Sort(names)
			for _, name := range names {
				*ok = line(out, name, byPackage[name]) && *ok
			}
			continue
		}
		*ok = line(out, path, texts) && *ok
	}
	return nil
}

func line(out io.Writer, name string, texts []comment) bool {
	var f figures
	for _, c := range texts {
		f.add(c.Text)
	}
	broken := f.broken()
	fmt.Fprintf(out, "%-44s %8d", name, f.words)
	for _, c := range counted {
		mark := " "
		if slices.Contains(broken, c.word) {
			mark = "!"
		}
		fmt.Fprintf(out, "  %11.1f%s", f.per1000(c.word), mark)
	}
	fmt.Fprintln(out)
	return len(broken) == 0
}

// sample prints n comments taken at random, each with file and line.
func sample(out io.Writer, paths []string, n int, seed uint64) error {
	if len(paths) == 0 {
		paths = folders
	}
	texts, err := collectAll(paths)
	if err != nil {
		return err
	}
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] }) //nolint:gosec // a sample, no secret
	for _, c := range texts[:min(n, len(texts))] {
		fmt.Fprintf(out, "%s:%d\n    %s\n\n", c.File, c.Line, strings.ReplaceAll(c.Text, "\n", "\n    "))
	}
	fmt.Fprintf(out, "(seed %d)\n", seed)
	return nil
}

// collectAll gives the comments of all paths. A path that does not exist has no comments.
func collectAll(paths []string) ([]comment, error) {
	var all []comment
	for _, path := range paths {
		texts, err := collect(path)
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		all = append(all, texts...)
	}
	return all, nil
}
