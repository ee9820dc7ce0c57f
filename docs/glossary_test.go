package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
)

// parts are the folders of which each section of the glossary speaks.
var parts = map[string][]string{
	"People and their records": {
		"core/actor", "core/connect", "core/mailaddr", "core/partner", "core/tenant", "core/twofactor", "app/accounts",
		"app/partners", "ports/accounts", "ports/partners", "adapters/postgres/accounts", "adapters/postgres/partners",
	},
	"Deposits": {
		"core/agreement", "core/deposit", "core/evidence", "app/deposits", "app/payments", "ports/deposits",
		"ports/payments", "adapters/payments", "adapters/postgres/deposits", "adapters/postgres/payments",
	},
	"Requests": {
		"core/fault", "app/platform", "ports/platform", "adapters/postgres/groupcommit", "adapters/postgres/platform",
	},
	"Webhooks and delivery": {
		"core/webhook", "app/webhooks", "ports/webhooks", "adapters/asynq", "adapters/postgres/webhooks",
		"adapters/webhook",
	},
}

var (
	bracket = regexp.MustCompile(`\([^)]*\)`)
	hump    = regexp.MustCompile(`([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])`)
)

// wordsOf splits an identifier or a cell into words in lower case, in the singular.
func wordsOf(text string) (words []string) {
	text = hump.ReplaceAllString(text, "$1$3 $2$4")
	for _, w := range regexp.MustCompile(`[^A-Za-z0-9]+`).Split(strings.ToLower(text), -1) {
		if w != "" {
			words = append(words, strings.TrimSuffix(w, "s"))
		}
	}
	return words
}

// contains reports whether words has the phrase in it.
func contains(words, phrase []string) bool {
	for i := range words {
		if len(words)-i >= len(phrase) && slices.Equal(words[i:i+len(phrase)], phrase) {
			return true
		}
	}
	return false
}

// notUsed gives the phrases that the section's last column rules out, but for words that name something else in the
// section, and words that are ruled out of prose alone.
func notUsed(t *testing.T, section string, meanings map[string]bool) (phrases [][]string) {
	t.Helper()
	rows := docstest.Rows(t, "docs/glossary.md", section)
	var own []string
	for _, row := range rows {
		own = append(own, wordsOf(bracket.ReplaceAllString(row[0], ""))...)
	}
	for _, row := range rows {
		cell := regexp.MustCompile(`\([^)]*\)`).ReplaceAllStringFunc(row[2], func(b string) string {
			return strings.ReplaceAll(b, ",", ";")
		})
		for word := range strings.SplitSeq(cell, ",") {
			phrase := wordsOf(bracket.ReplaceAllString(word, ""))
			name := strings.Join(phrase, " ")
			if len(phrase) == 0 || strings.Contains(word, "in prose") || contains(own, phrase) || meanings[name] {
				continue
			}
			phrases = append(phrases, phrase)
		}
	}
	return phrases
}

// exported gives the exported names that a file declares: of the package, fields and methods.
func exported(t *testing.T, path string) (names []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	require.NoError(t, err)
	add := func(ids ...*ast.Ident) {
		for _, i := range ids {
			if i.IsExported() {
				names = append(names, i.Name)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			add(n.Name)
			return false
		case *ast.TypeSpec:
			add(n.Name)
		case *ast.ValueSpec:
			add(n.Names...)
		case *ast.Field:
			add(n.Names...)
		}
		return true
	})
	return names
}

// A name of Go uses the word that the glossary has for its thing.
func TestGlossary_NamesOfGo_UseNoWordThatIsNotUsed(t *testing.T) {
	t.Parallel()
	meanings := map[string]map[string]bool{}
	section := ""
	for _, row := range docstest.Rows(t, "docs/glossary.md", "Words with a meaning of their own") {
		if row[0] != "" {
			section = row[0]
			meanings[section] = map[string]bool{}
		}
		require.Contains(t, parts, section)
		meanings[section][strings.Join(wordsOf(row[1]), " ")] = true
	}
	var found []string
	seen := 0
	for _, section := range slices.Sorted(maps.Keys(parts)) {
		phrases := notUsed(t, section, meanings[section])
		require.NotEmpty(t, phrases, section)
		for _, folder := range parts[section] {
			require.NoError(t,
				filepath.WalkDir(filepath.Join(docstest.Root(), folder), func(path string, entry fs.DirEntry, err error) error {
					slashed := filepath.ToSlash(path)
					if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
						strings.Contains(slashed, "/internal/sqlc/") {
						return err
					}
					for _, name := range exported(t, path) {
						seen++
						for _, phrase := range phrases {
							if contains(wordsOf(name), phrase) {
								found = append(found, folder+": "+name+" contains "+strings.Join(phrase, " ")+"; see docs/glossary.md")
							}
						}
					}
					return nil
				}))
		}
	}
	slices.Sort(found)
	require.Empty(t, slices.Compact(found))
	require.Greater(t, seen, 2000)
}
