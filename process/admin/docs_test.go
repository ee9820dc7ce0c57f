package admin

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
)

// command is a command line as a page writes it: its flags, each "required", "optional" or "repeated".
type command map[string]string

// documented reads lines such as `admin key create --partner S [--name N] [--origin O]…   → {id}`.
func documented(text string) map[string]command {
	found := map[string]command{}
	flag := regexp.MustCompile(`(\[?)--([\w-]+)[^\]\s]*(?: [^\s\]]+)?(\]…|\])?`)
	for line := range strings.SplitSeq(text, "\n") {
		line, _, _ = strings.Cut(line, "→")
		words, is := strings.CutPrefix(line, "admin ")
		if !is {
			continue
		}
		path := regexp.MustCompile(`^[a-z][a-z -]*[a-z]`).FindString(
			regexp.MustCompile(`[\[-]-.*`).ReplaceAllString(words, ""))
		flags := command{}
		for _, m := range flag.FindAllStringSubmatch(words, -1) {
			switch {
			case m[3] == "]…":
				flags[m[2]] = "repeated"
			case m[1] == "[":
				flags[m[2]] = "optional"
			default:
				flags[m[2]] = "required"
			}
		}
		found[path] = flags
	}
	return found
}

func TestDocumented(t *testing.T) {
	require.Equal(t, map[string]command{
		"list":                  {},
		"connect-secret rotate": {"partner": "required"},
		"partner make":          {"slug": "required", "e-mail": "optional", "origin": "repeated"},
		"webhook replay":        {"from": "required", "status": "optional"},
	},
		documented(
			"# admin nothing\nadmin list\nadmin connect-secret rotate --partner S    → {a --b}\nadmin partner make --slug S [--e-mail E] [--origin U]…\n"+
				"admin webhook replay --from T [--status failed]\n"))
}

func TestDocs_ListEveryCommandWithItsFlags(t *testing.T) {
	parser := newParser(new(commands), streams{}, nil)
	want := map[string]command{}
	for _, leaf := range parser.Model.Leaves(true) {
		flags := command{}
		for _, f := range leaf.Flags {
			switch {
			case f.Required:
				flags[f.Name] = "required"
			case f.IsSlice():
				flags[f.Name] = "repeated"
			default:
				flags[f.Name] = "optional"
			}
		}
		want[strings.ReplaceAll(leaf.Path(), parser.Model.Name+" ", "")] = flags
	}
	require.Equal(t, want, documented(docstest.Section(t, "docs/spec/operations.md", "Admin CLI")))
}

func TestDocs_NameNoOtherCommand(t *testing.T) {
	known := documented(docstest.Section(t, "docs/spec/operations.md", "Admin CLI"))
	program := everyCommand(t)
	pages, err := filepath.Glob(filepath.Join(docstest.Root(), "docs/spec/*.md"))
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, code := range docstest.Codes(string(text)) {
			if name, is := strings.CutPrefix(code, "admin "); is {
				name, _, _ = strings.Cut(name, " --")
				_, there := known[name]
				for command := range known { // with an argument
					there = there || strings.HasPrefix(name, command+" ") && len(program[command].Positional) > 0
				}
				require.True(t, there || slices.Contains([]string{"--help"}, name), "%s names `admin %s`", page, name)
			}
		}
	}
}
