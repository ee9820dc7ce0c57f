package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, path))
	require.NoError(t, err)
	return string(content)
}

func TestDraw_ThePageHoldsTheFilesOfTheTrace_EachWithWords(t *testing.T) {
	t.Parallel()
	page, files := readFile(t, pageFile), parseTrace(readFile(t, traceFile))
	drawn, gaps, err := draw(page, files)
	require.NoError(t, err)
	require.Empty(t, gaps)
	require.Equal(t, drawn, page, "run `make walks ARGS=page`")
	require.Equal(t, files.String(), readFile(t, traceFile))
}

func TestTrace_HasFilesThatExist_InEveryWalk(t *testing.T) {
	t.Parallel()
	files := parseTrace(readFile(t, traceFile))
	for _, w := range walks {
		main, _ := split(files[w.name], nil)
		require.Greater(t, len(main), 10, w.name)
		for _, file := range files[w.name] {
			require.FileExists(t, filepath.Join(root, file), "run `make walks`: %s", w.name)
		}
	}
}

// pageOf is a page whose first walk has the rows.
func pageOf(rows string) string {
	page := ""
	for i, w := range walks {
		page += begin + w.name + " -->\n"
		if i == 0 {
			page += rows
		}
		page += end
	}
	return page
}

func TestDraw_NamesFilesWithoutWordsAndWordsWithoutAFile(t *testing.T) {
	t.Parallel()
	page := pageOf("| `app/a/first.go` | Begins. | a thing |\n| `app/b/gone.go` | Ends. | nothing |\n")
	first := walks[0].name
	drawn, gaps, err := draw(page, trace{first: {"app/a/first.go", "app/c/new.go", "core/id/id.go"}})
	require.NoError(t, err)
	require.Equal(t, []string{
		first + ": no such file in the trace: app/b/gone.go | Ends. | nothing", first + ": no words for app/c/new.go",
	}, gaps)
	require.Contains(t, drawn, "| `app/a/first.go` | Begins. | a thing |\n| `app/c/new.go` |  |  |\n")
	require.NotContains(t, drawn, "gone.go")
	require.Contains(t, drawn, "**2 files, 2 packages, 1 crossings.** 1 helpers: `core/id/id.go`.\n")
}

func TestDraw_WithoutMarkers_Fails(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"", strings.ReplaceAll(pageOf(""), end, ""), strings.ReplaceAll(pageOf(""), begin, "")} {
		_, _, err := draw(page, trace{})
		require.Error(t, err, page)
	}
}

func TestSplit_AHelperWithARowBelongsToTheWalk(t *testing.T) {
	t.Parallel()
	main, beside := split([]string{"app/a.go", "core/id/id.go", "core/money/money.go"}, []row{{file: "core/id/id.go"}})
	require.Equal(t, []string{"app/a.go", "core/id/id.go"}, main)
	require.Equal(t, []string{"core/money/money.go"}, beside)
}

func TestArrange_AMovedFileKeepsItsWordsAndItsPlace(t *testing.T) {
	t.Parallel()
	rows := []row{
		{"adapters/postgres/keys.go", "Reads.", "a"}, {"app/b.go", "Decides.", "b"}, {"adapters/http/keys.go", "Shows.", "c"},
	}
	files := []string{"adapters/http/desk/keys.go", "adapters/postgres/partners/keys.go", "app/b.go"}
	arranged, gaps := arrange(rows, files)
	require.Empty(t, gaps)
	require.Equal(t, []row{
		{"adapters/postgres/partners/keys.go", "Reads.", "a"}, {"app/b.go", "Decides.", "b"},
		{"adapters/http/desk/keys.go", "Shows.", "c"},
	}, arranged)
}

func TestArrange_WhereTwoFilesAreAsNear_TheWordsAreNotGuessed(t *testing.T) {
	t.Parallel()
	_, gaps := arrange([]row{{"app/keys.go", "Reads.", "a"}}, []string{"app/x/keys.go", "app/y/keys.go"})
	require.Equal(t, []string{
		"no such file in the trace: app/keys.go | Reads. | a", "no words for app/x/keys.go", "no words for app/y/keys.go",
	}, gaps)
}

func TestArrange_ANewFileComesBehindItsPackage(t *testing.T) {
	t.Parallel()
	rows := []row{{"app/a.go", "A.", "a"}, {"core/b.go", "B.", "b"}}
	arranged, _ := arrange(rows, []string{"app/a.go", "app/c.go", "core/b.go"})
	require.Equal(t, []row{{"app/a.go", "A.", "a"}, {file: "app/c.go"}, {"core/b.go", "B.", "b"}}, arranged)
}

func TestFigures_CountEachStepIntoAnotherPackage(t *testing.T) {
	t.Parallel()
	rows := []row{{file: "app/a.go"}, {file: "app/b.go"}, {file: "core/c.go"}, {file: "app/d.go"}}
	require.Equal(t, "**4 files, 2 packages, 2 crossings.**\n", figures(rows, nil))
}

func TestWrap_LinesEndAt120Columns(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("word ", 60)
	for line := range strings.Lines(wrap(text)) {
		require.LessOrEqual(t, len(line), 121)
	}
	require.Equal(t, strings.Fields(text), strings.Fields(wrap(text)))
}
