package admin

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
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
	require.Equal(t, want, documented(docstest.ReadSection(t, "docs/spec/operations.md", "Admin CLI")))
}

// unknownWord gives what of a command line, as a page writes it, the program does not have: a command or a flag. "|"
// separates alternatives of the last word.
func unknownWord(program map[string]*kong.Node, line string) string {
	line, _, _ = strings.Cut(line, "→") // the answer
	group := ""
	for i, alternative := range strings.Split(strings.NewReplacer("[", " ", "]", " ", "…", " ").Replace(line), "|") {
		name, words := group, strings.Fields(alternative)
		for len(words) > 0 && program[strings.TrimSpace(name+" "+words[0])] != nil {
			name, words = strings.TrimSpace(name+" "+words[0]), words[1:]
		}
		if i == 0 {
			group = strings.TrimSpace(name[:strings.LastIndex(name, " ")+1])
		}
		flags := []string{"--help"}
		for _, of := range program[name].AllFlags(true) {
			for _, f := range of {
				flags = append(flags, "--"+f.Name)
			}
		}
		for n, word := range words {
			word, _, _ = strings.Cut(word, "=")
			isFlag := strings.HasPrefix(word, "--")
			if isFlag && !slices.Contains(flags, word) || n == 0 && !isFlag && len(program[name].Positional) == 0 {
				return word
			}
		}
	}
	return ""
}

func TestUnknownWord(t *testing.T) {
	t.Parallel()
	program := everyCommand(t)
	for line, want := range map[string]string{
		"explode": "explode", "partner explode": "explode", "partner list acme": "acme", "partner list | explode": "explode",
		"partner show --loud": "--loud", "migrate up | status --loud": "--loud",
		"migrate up | status": "", "partner list | show --partner S": "", "payments check → {ok}": "", "doctor --json": "",
		"webhook replay --subscription pwh_… --from T --to T [--status failed]": "", "--help": "", "webhook": "",
		"deposit show <id or reference>": "",
	} {
		require.Equal(t, want, unknownWord(program, line), line)
	}
}

// Pages show commands as code, or as lines of a block that has no language. Those in blocks of the shell are run.
func TestDocs_NameNoOtherCommandOrFlag(t *testing.T) {
	t.Parallel()
	program, named := everyCommand(t), 0
	blocks, shell := regexp.MustCompile("(?ms)^```\n(.*?)^```"), regexp.MustCompile("(?ms)^```\\w+.*?^```")
	require.NoError(t, filepath.WalkDir(docstest.RepositoryRoot(), func(path string, entry os.DirEntry, err error) error {
		relative, _ := filepath.Rel(docstest.RepositoryRoot(), path)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && relative != "." && relative != "docs" && !strings.HasPrefix(relative, "docs/"):
			return filepath.SkipDir
		case filepath.Ext(path) != ".md" || relative == "CHANGELOG.md":
			return nil
		}
		text := shell.ReplaceAllString(docstest.ReadFile(t, relative), "")
		lines := docstest.CodeSpans(blocks.ReplaceAllString(text, ""))
		for _, block := range blocks.FindAllStringSubmatch(text, -1) {
			lines = append(lines, strings.Split(block[1], "\n")...)
		}
		for _, line := range lines {
			if words, is := strings.CutPrefix(line, "admin "); is {
				named++
				require.Empty(t, unknownWord(program, words), "%s: %s", relative, line)
			}
		}
		return nil
	}))
	require.Greater(t, named, 100)
}
