// Package docstest reads the pages under docs/, and the sandbox's tour, for tests that compare them with the code or
// follow them.
package docstest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/procs"
)

// RepositoryRoot returns the nearest directory with a go.mod above the package under test.
func RepositoryRoot() string {
	if dir := procs.FindFolderAbove("go.mod"); dir != "" {
		return dir
	}
	panic("docstest: no go.mod above the working directory")
}

// LayerFolders returns the folders of the product's code, from the lowest layer up (docs/README.md, "The house").
func LayerFolders() []string { return []string{"core", "ports", "app", "adapters", "process", "cmd"} }

// ReadFile returns the text of a file of the repository, or fails the test.
func ReadFile(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(RepositoryRoot(), path))
	require.NoError(t, err)
	return string(text)
}

var headingLine = regexp.MustCompile(`^(#+) (.*)$`)

// ReadSection returns the text of a Markdown page below the heading that begins with title, up to the next heading
// of its level.
func ReadSection(t testing.TB, path, title string) string {
	t.Helper()
	level, fenced := 0, false
	var below []string
	for line := range strings.SplitSeq(ReadFile(t, path), "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		m := headingLine.FindStringSubmatch(line)
		switch {
		case m == nil || fenced:
		case level > 0 && len(m[1]) <= level:
			return strings.Join(below, "\n")
		case level == 0 && strings.HasPrefix(m[2], title):
			level = len(m[1])
			continue
		}
		if level > 0 {
			below = append(below, line)
		}
	}
	require.Positive(t, level, "%s has no heading %q", path, title)
	return strings.Join(below, "\n")
}

// pipe replaces vertical bars in code spans while a row of a Markdown table is split.
const pipe = "\x00"

var codeSpan = regexp.MustCompile("`[^`]*`")

// TableRows returns the cells of the first table in a section of a Markdown page, without its head.
func TableRows(t testing.TB, path, title string) (all [][]string) {
	t.Helper()
	_, text, _ := strings.Cut("\n"+ReadSection(t, path, title), "\n|")
	for i, line := range strings.Split(text, "\n") {
		if i > 0 && !strings.HasPrefix(line, "|") {
			break
		}
		// A Markdown table begins with its head and a line below.
		if i < 2 {
			continue
		}
		line = codeSpan.ReplaceAllStringFunc(line, func(code string) string { return strings.ReplaceAll(code, "|", pipe) })
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i, cell := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(cell), pipe, "|")
		}
		all = append(all, cells)
	}
	require.NotEmpty(t, all, "%s, %q has no table", path, title)
	return all
}

func CodeSpans(text string) (codes []string) {
	for _, span := range codeSpan.FindAllString(text, -1) {
		codes = append(codes, strings.Trim(span, "`"))
	}
	return codes
}

var (
	adminLine = regexp.MustCompile(`(?m)^#   admin    (.*) bin/admin doctor$`)
	setting   = regexp.MustCompile(`(\w+)='([^']+)'`)
)

// AdminSettingsOfTour returns the settings (NAME=value) of the admin command at the head of the tour that the sandbox
// prints; nil if the output has no tour.
func AdminSettingsOfTour(output string) (environ []string) {
	if line := adminLine.FindString(output); line != "" {
		for _, pair := range setting.FindAllStringSubmatch(line, -1) {
			environ = append(environ, pair[1]+"="+pair[2])
		}
	}
	return environ
}
