package mailbook_test

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"html"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/mailbook"
)

const mailsPackage = "../../app/platform/mails"

// mailTypes are the types of app/platform/mails that have a method Mail.
func mailTypes(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(mailsPackage)
	require.NoError(t, err)
	var types []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), mailsPackage+"/"+e.Name(), nil, 0)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "Mail" {
				receiver, ok := f.Recv.List[0].Type.(*ast.Ident)
				require.True(t, ok)
				types = append(types, receiver.Name)
			}
		}
	}
	return types
}

func TestSpecimens_ShowEveryMailInEveryLanguage(t *testing.T) {
	types := mailTypes(t)
	require.GreaterOrEqual(t, len(types), 7)
	now := time.Now()
	for _, locale := range mailbook.Locales {
		shown, names := map[string]bool{}, map[string]bool{}
		for _, s := range mailbook.SampleMails(locale, "https://dash.example", now) {
			typeName, _, _ := strings.Cut(s.Name, ",")
			shown[typeName] = true
			require.False(t, names[s.Name], "two specimens are named %s", s.Name)
			names[s.Name] = true
			require.NotEmpty(t, s.Mail.To, s.Name)
			require.NotEmpty(t, s.Mail.Subject, s.Name)
			require.NotContains(t, s.Mail.Subject+s.Mail.Body+s.Mail.HTML, "%!", "a format without its value in %s", s.Name)
			require.NotContains(t, s.Mail.HTML, "ZgotmplZ", "html/template refused a value of %s", s.Name)
			requireWhole(t, s, len(names), now)
		}
		for _, name := range types {
			require.True(t, shown[name], "the mail %s is not shown: add it to lab/mailbook", name)
		}
	}
}

// requireWhole checks what a mail has besides its text: id and time, the deposit whose link it brings, and HTML that
// says the same.
func requireWhole(t *testing.T, s mailbook.SampleMail, number int, now time.Time) {
	t.Helper()
	linkOf := id.ID{}
	if strings.Contains(s.Mail.Body, "/checkout/") {
		linkOf = id.ID{15: 7}
	}
	require.Equal(t, []any{id.ID{15: byte(number)}, now, linkOf},
		[]any{s.Mail.ID, s.Mail.CreatedAt, s.Mail.LinkOf}, s.Name)
	if s.Mail.HTML == "" {
		return // the mails to partners are text alone
	}
	shown := html.UnescapeString(s.Mail.HTML)
	for line := range strings.SplitSeq(s.Mail.Body, "\n") {
		_, fact, isFact := strings.Cut(line, ": ")
		switch {
		case strings.HasPrefix(line, "https://"):
			require.Contains(t, shown, `href="`+line+`"`, s.Name)
		case strings.HasPrefix(line, "  ") && isFact:
			require.Contains(t, shown, ">"+fact+"</td>", s.Name)
		case len(line) > 60: // a paragraph
			require.Contains(t, shown, line, s.Name)
		}
	}
}

var update = flag.Bool("update", false, "write golden files")

// The words of a mail are a promise to its reader: a change shows here, in the language of each reader.
func TestSpecimens_HaveTheirTexts(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 1, 9, 30, 0, 0, time.UTC)
	for _, locale := range mailbook.Locales {
		var texts strings.Builder
		for _, s := range mailbook.SampleMails(locale, "https://dash.example", now) {
			fmt.Fprintf(&texts, "## %s\n\nTo: %s\nSubject: %s\n\n%s\n", s.Name, s.Mail.To, s.Mail.Subject, s.Mail.Body)
		}
		golden := "testdata/" + cmp.Or(locale, "unknown") + ".txt"
		if *update {
			require.NoError(t, os.WriteFile(golden, []byte(texts.String()), 0o600))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		require.Equal(t, string(want), texts.String(), "write the texts with -update, and read them")
	}
}
