package e2e_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
)

// docCommand is one command of a page.
type docCommand struct {
	page, text string
	script     bool // from a ```sh block; otherwise from prose, a table or a block without a language
}

// repository is the root of the repository.
func repository() string { return docstest.RepositoryRoot() }

// docPages gives the text of every page by its path in the repository.
func docPages(t testing.TB) map[string]string {
	t.Helper()
	pages := map[string]string{}
	read := func(path string) {
		content, err := os.ReadFile(filepath.Join(repository(), path))
		require.NoError(t, err)
		pages[path] = string(content)
	}
	read("README.md")
	read("CONTRIBUTING.md")
	read("SECURITY.md")
	require.NoError(t,
		filepath.WalkDir(filepath.Join(repository(), "docs"), func(path string, _ fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".md") {
				relative, _ := filepath.Rel(repository(), path)
				read(filepath.ToSlash(relative))
			}
			return err
		}))
	return pages
}

var (
	inlineCode  = regexp.MustCompile("`([^`\n]+)`")
	commandWord = regexp.MustCompile(
		`^(make|admin|go|curl|docker|openssl|psql|redis-cli|git|(\./)?scripts/\S+\.sh|(\./)?bin/\S+)( |$)`)
)

// commandsOf extracts the commands of a page in their order. A command of a ```sh block may span several lines.
func commandsOf(page, text string) []docCommand {
	var commands []docCommand
	mention := func(code string) {
		if code = strings.TrimSpace(code); commandWord.MatchString(code) && code != "admin" && code != "go" && code != "git" {
			commands = append(commands, docCommand{page: page, text: code})
		}
	}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		language, fence := strings.CutPrefix(strings.TrimSpace(lines[i]), "```")
		if !fence {
			for _, code := range inlineCode.FindAllStringSubmatch(lines[i], -1) {
				mention(code[1])
			}
			continue
		}
		var block []string
		for i++; i < len(lines) && !strings.HasPrefix(strings.TrimSpace(lines[i]), "```"); i++ {
			block = append(block, lines[i])
		}
		switch language {
		case "sh", "bash", "shell", "console":
			for _, command := range splitScript(block) {
				commands = append(commands, docCommand{page: page, text: command, script: true})
			}
		case "":
			for _, line := range block {
				mention(line)
			}
		}
	}
	return commands
}

// splitScript joins the lines of a shell block into whole commands: a quote, a bracket or a backslash at the end of a
// line continues the command.
func splitScript(block []string) []string {
	var commands []string
	var open []string
	for _, line := range block {
		if len(open) == 0 && (strings.TrimSpace(line) == "" || strings.HasPrefix(strings.TrimSpace(line), "#")) {
			continue
		}
		open = append(open, line)
		whole := strings.Join(open, "\n")
		if strings.HasSuffix(line, `\`) || unclosed(whole) {
			continue
		}
		commands, open = append(commands, whole), nil
	}
	if len(open) > 0 {
		commands = append(commands, strings.Join(open, "\n"))
	}
	return commands
}

// unclosed reports whether a quote is open at the end of the text.
func unclosed(text string) bool {
	var quote rune
	escaped := false
	for i, c := range text {
		switch {
		case escaped:
			escaped = false
		case c == '\\' && quote != '\'':
			escaped = true
		case quote == 0 && c == '#' && (i == 0 || strings.ContainsRune(" \n", rune(text[i-1]))):
			if newline := strings.IndexByte(text[i:], '\n'); newline >= 0 {
				return unclosed(text[i+newline:])
			}
			return false
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == quote:
			quote = 0
		}
	}
	return quote != 0
}

func TestDocs_CommandsAreExtracted(t *testing.T) {
	t.Parallel()
	page := "Run `make unit`, `make`, `go` or `admin` or `key`.\n" +
		"```sh\nA=1 # it's set\ncurl -s x \\\n  -d '{\n \"a\": 1}'   # 201\n\n# only words\necho \"$A\"\n```\n" +
		"```\nadmin migrate up | status\nPOST /x\n```\n```js\nmake()\n```\n| `admin doctor` |\n"
	var scripts, mentions []string
	for _, c := range commandsOf("page.md", page) {
		require.Equal(t, "page.md", c.page)
		if c.script {
			scripts = append(scripts, c.text)
		} else {
			mentions = append(mentions, c.text)
		}
	}
	require.Equal(t, []string{"A=1 # it's set", "curl -s x \\\n  -d '{\n \"a\": 1}'   # 201", `echo "$A"`}, scripts)
	require.Equal(t, []string{"make unit", "make", "admin migrate up | status", "admin doctor"}, mentions)
}
