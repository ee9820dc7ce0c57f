package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var notSaid = regexp.MustCompile(`(?m)^Pages and mails do not say: (.*)\.$`)

// People read one word for one thing (glossary.md, "On pages and in mails").
func TestGlossary_PagesAndMailsSayNoOtherWord(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("glossary.md")
	require.NoError(t, err)
	line := notSaid.FindSubmatch(page)
	require.NotNil(t, line)
	var stems []string
	for word := range strings.SplitSeq(string(line[1]), ", ") {
		stems = append(stems, `\b`+strings.TrimSuffix(word, "er")) // of a French verb every form
	}
	forbidden := regexp.MustCompile("(?i)" + strings.Join(stems, "|"))
	require.True(t, forbidden.MatchString("Collected") && forbidden.MatchString("encaissée"))
	texts := 0
	for _, root := range []string{"../adapters/http", "../app/platform/mails"} {
		require.NoError(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				for _, text := range textsOf(n) {
					texts++
					require.False(t, forbidden.MatchString(text), "%s: %s", path, text)
				}
				return true
			})
			return nil
		}))
	}
	require.Greater(t, texts, 800)
}

// textsOf gives the literals of a call that makes a text in both languages: ui.T, T, or say of a mail. A text of
// several lines has several literals.
func textsOf(n ast.Node) (texts []string) {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return nil
	}
	name := ""
	switch f := call.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	if name != "T" && name != "say" {
		return nil
	}
	for _, arg := range call.Args {
		texts = append(texts, literalsOf(arg)...)
	}
	return texts
}

// literalsOf gives the literals that a text is joined from.
func literalsOf(e ast.Expr) []string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			return []string{e.Value}
		}
	case *ast.BinaryExpr:
		return append(literalsOf(e.X), literalsOf(e.Y)...)
	}
	return nil
}
