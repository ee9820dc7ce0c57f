package docs_test

import (
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
)

// papers are the pages that code cites by their bare name.
var papers = []string{
	"service.md", "api.md", "delivery.md", "operations.md", "settings.md", "pages.md", "metrics.md", "payments.md",
}

// TestCitations_NameWhatExists reads the comments of all code and the text of all documents. A citation that names a
// document, section, heading, point or decision that is not there fails.
func TestCitations_NameWhatExists(t *testing.T) {
	l := repository(t)
	read := 0
	for _, path := range slices.DeleteFunc(
		files(t, ".go", ".sql", ".templ", ".yaml", ".yml", ".sh", ".lua", ".md", "Makefile"), ofThePast) {
		text := docstest.ReadFile(t, path)
		for _, problem := range l.problems(path, text) {
			t.Errorf("%s: %s", path, problem)
		}
		read++
	}
	require.Greater(t, read, 200, "the repository was not found")
}

// library holds everything that can be cited.
type library struct {
	pages     map[string]paper // by bare name
	decisions []string         // numbers, also those that another record has taken over
	exists    func(path string) bool
}

// paper is a page of docs/spec: its titles by section ("" outside numbered sections), and its numbered points.
type paper struct {
	titles map[string][]string
	points []string
}

func repository(t *testing.T) library {
	t.Helper()
	l := library{pages: map[string]paper{}, exists: func(path string) bool {
		_, err := os.Stat(filepath.Join(docstest.RepositoryRoot(), path))
		return err == nil
	}}
	for _, name := range papers {
		l.pages[name] = paperOf(docstest.ReadFile(t, "docs/spec/"+name))
	}
	for _, row := range docstest.TableRows(t, "docs/decisions/README.md", "Decisions") {
		l.decisions = append(l.decisions, number.FindAllString(row[0]+row[1], -1)...)
		require.True(t, l.exists("docs/decisions/"+target.FindStringSubmatch(row[0])[1]), row[0])
	}
	return l
}

var (
	number   = regexp.MustCompile(`\b\d{4}\b`)
	target   = regexp.MustCompile(`\]\((\d{4}[\w-]+\.md)\)`)
	heading  = regexp.MustCompile(`^(#+) (?:(\d+)\. )?(.*)$`)
	leadIn   = regexp.MustCompile(`^(?:- |\d+\. )?\*\*(.+?)[.:]?\*\*`)
	numbered = regexp.MustCompile(`^(?:(\d+)\.|   - (\d+\.\d+)) `)
)

// paperOf reads headings, the bold words that begin a paragraph or list item, and the numbers of lists and of their
// parts.
func paperOf(page string) paper {
	p := paper{titles: map[string][]string{}}
	current := ""
	for line := range strings.SplitSeq(page, "\n") {
		if m := heading.FindStringSubmatch(line); m != nil {
			if len(m[1]) <= 2 {
				current = m[2]
			}
			p.titles[current] = append(p.titles[current], m[3])
			continue
		}
		if m := leadIn.FindStringSubmatch(line); m != nil {
			p.titles[current] = append(p.titles[current], m[1])
		}
		if m := numbered.FindStringSubmatch(line); m != nil {
			p.points = append(p.points, m[1]+m[2])
		}
	}
	return p
}

func (p paper) has(title string) bool {
	for number := range p.titles {
		if p.sectionHas(number, title) {
			return true
		}
	}
	return false
}

var letterFirst = regexp.MustCompile(`^\pL`)

func (p paper) sectionHas(number, title string) bool {
	return slices.ContainsFunc(p.titles[number], func(known string) bool {
		rest, is := strings.CutPrefix(known, title)
		return is && !letterFirst.MatchString(rest)
	})
}

var (
	anyPage    = regexp.MustCompile(`[\w./-]+\.(?:md|mmd)\b`)
	sections   = regexp.MustCompile(`^\s+§(\d+)((?:(?:,|\s+and)\s+§\d+)*)`)
	oneSection = regexp.MustCompile(`§(\d+)`)
	titles     = regexp.MustCompile(`^((?:,|\s+and)\s+"[^"]+")+`)
	oneTitle   = regexp.MustCompile(`"([^"]+)"`)
	points     = regexp.MustCompile(`^,\s+points?\s+\d+(?:\.\d+)?(?:(?:,|\s+and|\s+to)\s+\d+(?:\.\d+)?)*`)
	onePoint   = regexp.MustCompile(`\d+(?:\.\d+)?`)
	decision   = regexp.MustCompile(`\bADR\s+(\d+)`)
	linkTarget = regexp.MustCompile(`(?:[\w./-]+\.md)?\]\([^)]*\)`) // with a text that is a path
	ofARecord  = regexp.MustCompile(`^docs/decisions/(\d{4})-`)
	newLine    = regexp.MustCompile(`\n[\t ]*(?://|--|#)?`)
)

// problems lists the citations of a file that name nothing.
func (l library) problems(path, text string) (wrong []string) {
	document := strings.HasSuffix(path, ".md")
	switch {
	case document: // links are checked by themselves; headings keep their titles
		text = fences.ReplaceAllString(linkTarget.ReplaceAllString(text, "]"), "")
		text = headings.ReplaceAllString(text, "")
	case strings.HasSuffix(path, ".go"):
		text = comments(text)
	}
	text = newLine.ReplaceAllString(text, " ")
	for _, at := range anyPage.FindAllStringIndex(text, -1) {
		name, rest := text[at[0]:at[1]], text[at[1]:]
		if slices.Contains(papers, name) {
			wrong = append(wrong, l.pages[name].cited(name, rest, document)...)
		} else if of := ofARecord.FindStringSubmatch(name); of != nil && strings.HasSuffix(path, ".sql") {
			if !slices.Contains(l.decisions, of[1]) { // a released migration cites a file that is gone
				wrong = append(wrong, name+" does not exist")
			}
		} else if !l.found(path, name) {
			wrong = append(wrong, name+" does not exist")
		}
	}
	for _, m := range decision.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(l.decisions, m[1]) {
			wrong = append(wrong, m[0]+" does not exist")
		}
	}
	return wrong
}

// found looks for a page where a reader would: at the path from the root, and at the path from the file that names it.
func (l library) found(from, name string) bool {
	return l.exists(name) || l.exists(filepath.ToSlash(filepath.Join(filepath.Dir(from), name)))
}

// cited checks the words behind a page's name. Code must say where in the page; a document may name the page alone.
func (p paper) cited(name, rest string, document bool) (wrong []string) {
	if m := points.FindString(rest); m != "" {
		for _, n := range onePoint.FindAllString(m, -1) {
			if !slices.Contains(p.points, n) {
				wrong = append(wrong, name+" has no point "+n)
			}
		}
		return wrong
	}
	in := ""
	if m := sections.FindString(rest); m != "" {
		for _, s := range oneSection.FindAllStringSubmatch(m, -1) {
			in = s[1]
			if len(p.titles[in]) == 0 {
				wrong = append(wrong, name+" has no §"+in)
			}
		}
		rest = rest[len(m):]
	}
	quoted := titles.FindString(rest)
	for _, m := range oneTitle.FindAllStringSubmatch(quoted, -1) {
		if title := strings.Join(strings.Fields(m[1]), " "); !p.has(title) || (in != "" && !p.sectionHas(in, title)) {
			wrong = append(wrong, fmt.Sprintf("%s has no %q", strings.TrimSpace(name+" §"+in), title))
		}
	}
	if in == "" && quoted == "" && !document {
		wrong = append(wrong,
			name+` is cited without a place in it: use (api.md §1), (service.md, "Limits") or (delivery.md, point 3)`)
	}
	return wrong
}

// comments gives the comments of Go source, one after the other.
func comments(source string) string {
	var out strings.Builder
	var s scanner.Scanner
	set := token.NewFileSet()
	s.Init(set.AddFile("", set.Base(), len(source)), []byte(source), nil, scanner.ScanComments)
	for {
		_, kind, text := s.Scan()
		if kind == token.EOF {
			return out.String()
		}
		if kind == token.COMMENT {
			out.WriteString("\n" + text)
		}
	}
}

func TestProblems_TellsGoodCitationsFromBad(t *testing.T) {
	l := library{
		pages: map[string]paper{
			"service.md":    paperOf("# S\n## Limits\n### Connect pages (browser)\n"),
			"api.md":        paperOf("# A\n## 1. Rules\n### Idempotency (all)\n**Order of checks:** a\n## 2. Routes\n"),
			"delivery.md":   paperOf("# D\n1. one\n2. two\n   - 2.1 deep\n3. three\n"),
			"operations.md": paperOf("# O\n## Retention (tables)\n"),
		},
		decisions: []string{"0006"},
		exists:    func(path string) bool { return path == "docs/guides/measuring.md" || path == "README.md" },
	}
	good := []string{
		"// x (api.md §1).", "// x (api.md §1, §2).", `// x (api.md §1, "Idempotency")`,
		`// x (api.md §1, "Order of checks").`, `// x (service.md, "Limits").`,
		"// x (service.md,\n\t// \"Connect\n\t// pages\").", "// x (delivery.md, point 3).",
		"// x (delivery.md, points 1 and 3).",
		"// x (delivery.md, point 2.1).", `// x (operations.md, "Retention").`,
		"// x (ADR 0006).", "// see docs/guides/measuring.md.", "// see README.md.", "var s = `the spec and nothing.md`",
	}
	for _, text := range good {
		require.Empty(t, l.problems("a.go", text), text)
	}
	bad := map[string]string{
		"// x (api.md §3).":                      "api.md has no §3",
		`// x (api.md §2, "Idempotency").`:       `api.md §2 has no "Idempotency"`,
		`// x (api.md §1, "Idem").`:              `api.md §1 has no "Idem"`,
		`// x (service.md, "Bounds").`:           `service.md § has no "Bounds"`,
		"// x (delivery.md, point 4).":           "delivery.md has no point 4",
		"// x (delivery.md, points 1 and 9).":    "delivery.md has no point 9",
		"// x (delivery.md, point 2.2).":         "delivery.md has no point 2.2",
		"// x (operations.md).":                  "operations.md is cited without a place",
		`// x operations.md "Retention".`:        "operations.md is cited without a place",
		"// x (ADR 0007).":                       "ADR 0007 does not exist",
		"// see docs/guides/nothing.md.":         "docs/guides/nothing.md does not exist",
		"// see architecture.md.":                "architecture.md does not exist",
		"/* as in (api.md §9) */ package a":      "api.md has no §9",
		"package a // in style.md\n\nvar x int ": "style.md does not exist",
	}
	for text, want := range bad {
		wrong := l.problems("a.go", text)
		require.Len(t, wrong, 1, text)
		require.Contains(t, wrong[0], want, text)
	}
	require.Empty(t,
		l.problems("docs/x.md", "service.md comes first. [api](nowhere.md)\n### what the spec demands\n```\nthe spec\n```\n"))
	require.Len(t, l.problems("docs/x.md", "As api.md §7 says."), 1)
	require.Len(t, l.problems("q.sql", "-- The rule (api.md\n-- §8)."), 1)
}
