// Package docs_test compares the documents with each other and with the code.
package docs_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
)

var link = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)

// linksOf gives the targets of a page's links inside the repository: path from the root, and anchor or "".
func linksOf(page, text string) (targets [][2]string) {
	for _, m := range link.FindAllStringSubmatch(fences.ReplaceAllString(text, ""), -1) {
		if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
			continue
		}
		file, anchor, _ := strings.Cut(m[1], "#")
		if file == "" {
			file = path.Base(page)
		}
		targets = append(targets, [2]string{path.Join(path.Dir(page), file), anchor})
	}
	return targets
}

// anchors gives the names that GitHub gives to the headings of a page.
func anchors(text string) (names []string) {
	for _, line := range headings.FindAllString(fences.ReplaceAllString(text, ""), -1) {
		title := strings.ToLower(strings.TrimLeft(line, "# "))
		title = strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return r
			}
			return -1
		}, title)
		names = append(names, title)
	}
	return names
}

func TestLinks_LeadToFilesAndHeadings(t *testing.T) {
	followed := 0
	for _, page := range files(t, ".md") {
		for _, target := range linksOf(page, docstest.ReadFile(t, page)) {
			followed++
			if _, err := os.Stat(filepath.Join(docstest.RepositoryRoot(), target[0])); err != nil {
				t.Errorf("%s links to %s, which does not exist", page, target[0])
				continue
			}
			if target[1] != "" && !slices.Contains(anchors(docstest.ReadFile(t, target[0])), target[1]) {
				t.Errorf("%s links to %s#%s, and there is no such heading", page, target[0], target[1])
			}
		}
	}
	require.Greater(t, followed, 30)
}

func TestPages_CanAllBeReachedFromTheEntrance(t *testing.T) {
	var pages []string
	for _, file := range files(t, "") {
		if strings.HasPrefix(file, "docs/") && !strings.HasSuffix(file, ".go") {
			pages = append(pages, file)
		}
	}
	require.Empty(t, unreached("docs/README.md", pages, func(page string) string { return docstest.ReadFile(t, page) }))
}

// unreached follows links from a page and gives the pages to which no link leads.
func unreached(entrance string, pages []string, read func(string) string) (left []string) {
	reached := map[string]bool{entrance: true}
	for next := []string{entrance}; len(next) > 0; next = next[1:] {
		for _, target := range linksOf(next[0], read(next[0])) {
			if !reached[target[0]] && slices.Contains(pages, target[0]) {
				reached[target[0]] = true
				next = append(next, target[0])
			}
		}
	}
	for _, page := range pages {
		if !reached[page] {
			left = append(left, page)
		}
	}
	return left
}

func TestUnreached_FindsThePageThatNothingLinks(t *testing.T) {
	pages := map[string]string{
		"docs/README.md": "[a](a.md) [b](guides/b.md#part) [out](https://example.com/d.md)\n```\n[in code](d.md)\n```",
		"docs/a.md":      "", "docs/guides/b.md": "[c](../c.md)", "docs/c.md": "", "docs/d.md": "",
	}
	var names []string
	for name := range pages {
		names = append(names, name)
	}
	require.Equal(t, []string{"docs/d.md"},
		unreached("docs/README.md", names, func(page string) string { return pages[page] }))
	require.Equal(t, []string{"payload-deposit-events", "1-rules_of--it"},
		anchors("# Payload, deposit events\n## 1. Rules_of `-it`"))
}

// asked are the questions of which the entrance must give the answer's place.
var asked = []string{
	"Where is the retry delay decided?", "What happens when Redis is away in the relay?", "What closes an elapsed cover?",
	"Who checks the API key?", "How do I add an event?",
}

func TestQuestions_NamePathsThatExist(t *testing.T) {
	answers := map[string]int{}
	for _, row := range docstest.TableRows(t, "docs/README.md", "Questions and where they are answered") {
		if strings.HasPrefix(row[0], "**") {
			continue
		}
		paths := docstest.CodeSpans(row[1])
		answers[row[0]] = len(paths)
		require.NotEmpty(t, paths, row[0])
		assert.Empty(t, missing(paths), row[0])
	}
	for _, question := range asked {
		require.Contains(t, answers, question)
	}
}

// inRepository recognises a path of this repository in a code span.
var inRepository = regexp.MustCompile(`^(?:adapters|app|cmd|core|deployments|docs|ports|scripts)/[\w./-]+$`)

// missing gives the paths that do not exist. `core/deposit.Fee` is a name in a package.
func missing(paths []string) (gone []string) {
	for _, p := range paths {
		if !inRepository.MatchString(p) {
			continue
		}
		_, err := os.Stat(filepath.Join(docstest.RepositoryRoot(), p))
		if dir, name, found := strings.Cut(p, "."); err != nil && found && name != "" && unicode.IsUpper(rune(name[0])) {
			_, err = os.Stat(filepath.Join(docstest.RepositoryRoot(), dir))
		}
		if err != nil {
			gone = append(gone, p)
		}
	}
	return gone
}

func TestPaths_InDocumentsExist(t *testing.T) {
	for _, page := range slices.DeleteFunc(files(t, ".md"), ofThePast) {
		gone := missing(docstest.CodeSpans(fences.ReplaceAllString(docstest.ReadFile(t, page), "")))
		if path.Base(page) == "adding.md" { // it names files that the reader is about to create
			for i := range gone {
				gone[i] = path.Dir(gone[i])
			}
			gone = missing(gone)
		}
		assert.Empty(t, gone, page)
	}
}

// ofThePast recognises the document that also names files of the past.
func ofThePast(path string) bool { return path == "CHANGELOG.md" }

func TestMissing(t *testing.T) {
	require.Equal(t, []string{"app/nothing.go", "core/nothing.Name"},
		missing(
			[]string{"app/nothing.go", "docs/README.md", "core/deposit.Fee", "core/nothing.Name", "GET /livez", "docs/*.md"}))
}
