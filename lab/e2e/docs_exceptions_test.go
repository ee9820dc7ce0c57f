package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// docException names commands of README.md, CONTRIBUTING.md, SECURITY.md and docs/ that TestDocs_… does not run.
type docException struct {
	pattern string // regular expression over the whole command
	reason  string
	mention bool   // applies outside ```sh blocks only
	page    string // applies to this page only; the test that reason names checks that everything exists
}

// docExceptions is the only list of commands that are documented and not run. The target, path, sub-command and flags
// of each are checked.
var docExceptions = []docException{
	{pattern: `make run`,
		reason: "startSandbox runs the same binary, and TestSandbox_TheTourWorksAndCtrlCLeavesNothing its tour"},
	{pattern: `make screenshots`, reason: "writes docs/pictures, which a test holds small and shown"},
	{pattern: `make dashboards`,
		reason: "draws docs/dashboards; TestDashboards_… runs the same queries on running processes"},
	{pattern: `make dev`, reason: "runs until Ctrl-C; air restarts, and startSandbox runs the sandbox"},
	{pattern: `make( help)?`, reason: "prints the list of targets"},
	{pattern: `make (test|test-sdk|unit|integration|e2e)`, reason: "runs the tests, this one included"},
	{pattern: `make (lint|fmt|generate|check-generated|build|clean)`,
		reason: "changes or checks the working tree; make test runs lint and check-generated"},
	{pattern: `make faults( .*)?`, reason: "takes half an hour; make test runs a short seed"},
	{pattern: `make fuzz( .*)?`, reason: "takes a minute for each target; make test runs the seeds"},
	{pattern: `make test-long( .*)?`, reason: "takes an hour and a half; make test runs short forms"},
	{pattern: `make (test-kube|kube)`, reason: "needs root, and builds Kubernetes the first time"},
	{page: "docs/guides/kubernetes.md", pattern: `(?s).*`,
		reason: "TestGuide_FromNothing_LeadsToAVerifiedWebhook and TestStory_OfARelease (make test-kube) run it"},
	{pattern: `make (image|release|test-release)( .*)?`, reason: "takes minutes; deployments/release tests its parts"},
	{pattern: `openssl (genpkey|pkey|pkeyutl) .*`, reason: "deployments/release runs the commands of its guide"},
	{pattern: `make bench-(delivery|api)( .*)?`, reason: "takes an hour and a half"},
	{pattern: `(nice .*)?go (run|test|build|vet) .*`, reason: "runs a part of the tests, or builds"},
	{pattern: `docker compose .*`, reason: "needs a container engine and pulls images"},
	{pattern: `psql( .*)?`, reason: "TestDocs_QueriesRun runs the queries without psql, which not every machine has"},
	{pattern: `git (log|commit|diff|rebase|bisect|status|tag)( .*)?`, reason: "depends on the state of the checkout"},
	{pattern: `admin .*`, reason: "a reference of the command line; lab/e2e/admin_test.go runs the commands",
		mention: true},
}

// exceptionFor gives the exception that applies to the command of a page.
func exceptionFor(page string, c docCommand) (docException, bool) {
	for _, e := range docExceptions {
		if regexp.MustCompile(`^(?:`+e.pattern+`)$`).MatchString(bare(c.text)) && (!c.script || !e.mention) &&
			(e.page == "" || e.page == page) {
			return e, true
		}
	}
	return docException{}, false
}

var shellComment = regexp.MustCompile(`(^|\s)#.*`)

// bare is the command without comment.
func bare(command string) string {
	return strings.TrimSpace(shellComment.ReplaceAllString(command, ""))
}

// checkExists tells what of a command does not exist: its make target, path, sub-command or flag. nil: all exists.
func checkExists(t testing.TB, command string) error {
	t.Helper()
	command, _, _ = strings.Cut(command, "→") // the answer
	words := strings.Fields(strings.NewReplacer("[", " ", "]", " ", "…", " ").Replace(bare(command)))
	for len(words) > 0 && (words[0] == "nice" || strings.HasPrefix(words[0], "-")) {
		words = words[1:]
	}
	switch {
	case words[0] == "make":
		return checkMake(command)
	case words[0] == "admin":
		return checkAdmin(t, words[1:])
	case words[0] == "go":
		folder := ""
		if len(words) > 3 && words[2] == "-C" {
			folder = words[3]
		}
		for _, word := range words[2:] {
			if path, ok := strings.CutPrefix(strings.TrimSuffix(word, "/..."), "./"); ok {
				if err := checkPath(filepath.Join(folder, path)); err != nil {
					return err
				}
			}
		}
		return nil
	case words[0] == "docker":
		if file := slices.Index(words, "-f"); file > 0 && file+1 < len(words) {
			if err := checkPath(words[file+1]); err != nil {
				return err
			}
		}
		if at := slices.Index(words, "admin"); at > 0 {
			return checkAdmin(t, words[at+1:])
		}
		return nil
	case strings.HasPrefix(strings.TrimPrefix(words[0], "./"), "scripts/"):
		return checkPath(words[0])
	case words[0] == "git", words[0] == "openssl", words[0] == "psql":
		return nil
	}
	return fmt.Errorf("no check for %q", words[0])
}

func checkPath(path string) error {
	_, err := os.Stat(filepath.Join(repository(), path))
	return err
}

// checkMake looks for the targets and variables in the Makefile, and for the flags of ARGS in the program's own help.
func checkMake(command string) error {
	makefile, err := os.ReadFile(filepath.Join(repository(), "Makefile"))
	if err != nil {
		return err
	}
	target := ""
	for _, word := range shellWords(bare(command))[1:] {
		name, value, assignment := strings.Cut(word, "=")
		if !assignment {
			target = word
			if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(word) + `:`).Match(makefile) {
				return fmt.Errorf("the Makefile has no target %q", word)
			}
			continue
		}
		if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` *[:?]?=`).Match(makefile) {
			return fmt.Errorf("the Makefile has no variable %q", name)
		}
		if name != "ARGS" {
			continue
		}
		help, err := flagsOf(target)
		if err != nil {
			return err
		}
		for _, flag := range shellWords(value) {
			if strings.HasPrefix(flag, "-") && !strings.Contains(help, "\n  "+flag+"\n") &&
				!strings.Contains(help, "\n  "+flag+" ") {
				return fmt.Errorf("make %s: no flag %q", target, flag)
			}
		}
	}
	return nil
}

// shellWords splits a command into words; quotes group.
func shellWords(command string) []string {
	var words []string
	var word strings.Builder
	var quote rune
	begun := false
	for _, c := range command {
		switch {
		case quote == 0 && (c == '\'' || c == '"'):
			quote, begun = c, true
		case c == quote:
			quote = 0
		case quote == 0 && (c == ' ' || c == '\n'):
			if begun {
				words = append(words, word.String())
			}
			begun = false
			word.Reset()
		default:
			word.WriteRune(c)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words
}

var helpTexts sync.Map // target → func() (string, error)

// flagsOf gives the help of the program behind a make target that passes ARGS on.
func flagsOf(target string) (string, error) {
	program, ok := map[string]string{"faults": "./lab/faults", "bench-delivery": "./lab/bench",
		"bench-api": "./lab/bench"}[target]
	if !ok {
		return "", fmt.Errorf("make %s takes no ARGS", target)
	}
	ask, _ := helpTexts.LoadOrStore(target, sync.OnceValues(func() (string, error) {
		cmd := exec.Command("go", "run", program, "-h")
		// as the commands are built, so that packages are compiled once
		cmd.Dir, cmd.Env = repository(), append(os.Environ(), "CGO_ENABLED=0")
		out, err := cmd.CombinedOutput()
		if !strings.Contains(string(out), "Usage of") {
			return "", fmt.Errorf("%s -h: %w: %s", program, err, out)
		}
		return string(out), nil
	}))
	return ask.(func() (string, error))()
}

// checkAdmin asks the command line itself for the sub-commands and flags. Alternatives of the last sub-command are
// separated by "|": admin partner list | show --partner S.
func checkAdmin(t testing.TB, words []string) error {
	t.Helper()
	var group []string
	for _, alternative := range strings.Split(strings.Join(words, " "), "|") {
		path := slices.Clone(group)
		var flags []string
		for _, word := range strings.Fields(alternative) {
			switch {
			case strings.HasPrefix(word, "--"):
				name, _, _ := strings.Cut(word, "=")
				flags = append(flags, name)
			case len(flags) == 0 && !strings.HasPrefix(word, `"`):
				path = append(path, word)
			}
		}
		if group == nil && len(path) > 1 {
			group = path[:len(path)-1]
		}
		help, there := adminHelp(t, path)
		if !there {
			return fmt.Errorf("admin has no command %q", strings.Join(path, " "))
		}
		for _, flag := range flags {
			if !strings.Contains(help, flag+"=") && !strings.Contains(help, flag+" ") && !strings.Contains(help, flag+"\n") {
				return fmt.Errorf("admin %s has no flag %s", strings.Join(path, " "), flag)
			}
		}
	}
	return nil
}

// adminHelp gives the help of the command that words begin with. Words after the command are its arguments, if it takes
// any.
func adminHelp(t testing.TB, words []string) (help string, there bool) {
	t.Helper()
	for n := len(words); n > 0; n-- {
		code, help := printedHelp(t, words[:n])
		usage, _, _ := strings.Cut(help, "\n")
		takesArguments := strings.Contains(usage, "<") && !strings.Contains(usage, "<command>")
		if code == 0 && strings.HasPrefix(usage+" ", "Usage: admin "+strings.Join(words[:n], " ")+" ") &&
			(n == len(words) || takesArguments) {
			return help, true
		}
	}
	return "", false
}

// helps holds the help of commands, since the pages name the same commands again and again.
var helps sync.Map // the command's words -> printed

type printed struct {
	code int
	help string
}

func printedHelp(t testing.TB, words []string) (code int, help string) {
	t.Helper()
	command := strings.Join(words, " ")
	if known, ok := helps.Load(command); ok {
		p := known.(printed)
		return p.code, p.help
	}
	code, help, _ = run(t, nil, "admin", append(slices.Clone(words), "--help")...)
	helps.Store(command, printed{code, help})
	return code, help
}

// TestDocs_EveryCommandIsRunOrExcepted finds commands that no test runs and that the list of exceptions does not name.
func TestDocs_EveryCommandIsRunOrExcepted(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for page, text := range docPages(t) {
		for _, c := range commandsOf(page, text) {
			e, excepted := exceptionFor(page, c)
			switch {
			case excepted:
				used[e.page+e.pattern] = true
				if e.page == "" {
					assert.NoError(t, checkExists(t, c.text), "%s: %s", page, c.text)
				}
			case !c.script || !isRun(page):
				assert.Fail(t, "no test runs this command and docExceptions does not name it", "%s: %s", page, c.text)
			}
		}
	}
	for _, e := range docExceptions {
		require.NotEmpty(t, e.reason, e.pattern)
		assert.True(t, used[e.page+e.pattern], "the exception %q applies to no command", e.pattern)
	}
}

func TestDocs_UnknownCommandsAreFound(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"make frobnicate", "make faults LEVEL=3", "make faults ARGS='-events 3 -nonsense'", "make unit ARGS=-v",
		"admin explode", "admin partner explode",
		"admin partner show --loud", "admin partner list | explode", "admin partner list acme",
		"admin migrate up | status --loud", "go run ./cmd/nothing",
		"go test -C lab/kube ./nothing",
		"docker compose -f deployments/nothing.yaml up", "docker compose -f deployments/compose.yaml run --rm admin explode",
		"scripts/nothing.sh", "rm -rf bin",
	} {
		require.Error(t, checkExists(t, command), command)
	}
	for _, command := range []string{
		"make", "make unit", "make faults ARGS='-events 3000 -hits 1 -short' SEED=7", "admin migrate up | status",
		"admin partner list | show --partner S",
		"admin webhook replay --subscription pwh_… --from T --to T [--status failed]", "admin doctor --json",
		"admin payments check → {ok}", "admin deposit show <id or reference>", "go test ./core/...",
		"go test -C lab/kube ./chart",
		`docker compose -f deployments/compose.yaml run --rm admin partner create --slug demo --name "Demo Stays"`,
		"scripts/test-all.sh",
	} {
		require.NoError(t, checkExists(t, command), command)
	}
	for _, command := range []docCommand{
		{text: "make frobnicate"}, {text: "curl -s x", script: true}, {text: "admin doctor", script: true},
		{text: "make test && rm -rf bin", script: true},
	} {
		_, excepted := exceptionFor("README.md", command)
		require.False(t, excepted, command.text)
	}
}
