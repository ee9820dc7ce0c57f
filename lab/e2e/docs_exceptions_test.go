package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
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

// docExceptions is the only list of commands that are documented and not run.
var docExceptions = []docException{
	{pattern: `make run`, reason: "startSandbox runs the same binary, and TestSandbox_TheTourWorks… its tour"},
	{pattern: `make screenshots`, reason: "writes docs/pictures, which a test holds small and shown"},
	{pattern: `make dashboards`, reason: "draws docs/dashboards; TestDashboards_… runs the same queries"},
	{pattern: `make dev`, reason: "runs until Ctrl-C; air restarts, and startSandbox runs the sandbox"},
	{pattern: `make( help)?`, reason: "prints the list of targets"},
	{pattern: `make (test|test-sdk|test-race|check|unit|integration|e2e)`, reason: "runs the tests, this one included"},
	{pattern: `make (lint|fmt|generate|check-generated|build|clean)`, reason: "changes or checks the working tree"},
	{pattern: `go generate ./deployments/grafana`, reason: "writes the dashboards, which TestBoards_… compares"},
	{pattern: `make faults( .*)?`, reason: "takes half an hour; make test runs a short seed"},
	{pattern: `make fuzz( .*)?`, reason: "takes a minute for each target; make test runs the seeds"},
	{pattern: `make test-long( .*)?`, reason: "takes an hour and a half; make test runs short forms"},
	{pattern: `make (test-kube|kube)`, reason: "needs root, and builds Kubernetes the first time"},
	{page: "docs/guides/kubernetes.md", pattern: `(?s).*`, reason: "TestGuide_FromNothing_… (make test-kube) runs it"},
	{pattern: `make (image|release|test-release)( .*)?`, reason: "takes minutes; deployments/release tests its parts"},
	{pattern: `openssl (genpkey|pkey|pkeyutl) .*`, reason: "deployments/release runs the commands of its guide"},
	{pattern: `make bench-(delivery|api)( .*)?`, reason: "takes an hour and a half"},
	{pattern: `(nice .*)?go (run|test|build|vet) .*`, reason: "runs a part of the tests, or builds"},
	{pattern: `docker compose .*`, reason: "needs a container engine and pulls images"},
	{pattern: `psql( .*)?`, reason: "TestDocs_QueriesRun runs the queries without psql, which not every machine has"},
	{pattern: `git (log|commit|diff|rebase|bisect|status|tag)( .*)?`, reason: "depends on the state of the checkout"},
	{pattern: `admin .*`, reason: "a reference; process/admin compares it with the command line", mention: true},
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

var (
	flagsOfARGS  = regexp.MustCompile(`ARGS=(?:'([^']*)'|(\S*))`)
	flagName     = regexp.MustCompile(`(?:^| )-([a-z-]+)`)
	namedFile    = regexp.MustCompile(`^(?:\./)?((?:scripts|deployments|lab|cmd|core|app|adapters|process|sdk)/[\w./-]*\w)(?:/\.\.\.)?$`)
	makeVariable = regexp.MustCompile(`(?:^| )([A-Z]+)=`)
)

// checkExists tells what of a command does not exist: its make target, variable, flag or file. nil: all exists.
func checkExists(command string) error {
	command, _, _ = strings.Cut(command, "→") // the answer
	command = bare(command)
	root := repository()
	if after := regexp.MustCompile(`go test -C (\S+) `).FindStringSubmatch(command); after != nil {
		root = filepath.Join(root, after[1])
	}
	for _, word := range strings.Fields(command) {
		path, relative := strings.CutPrefix(strings.TrimSuffix(word, "/..."), "./")
		switch file := namedFile.FindStringSubmatch(word); {
		case file != nil:
			path = filepath.Join(repository(), file[1])
		case relative && strings.HasPrefix(command, "go "):
			path = filepath.Join(root, path)
		default:
			continue
		}
		if _, err := os.Stat(path); err != nil {
			return err
		}
	}
	words, is := strings.CutPrefix(command, "make ")
	if !is {
		return nil
	}
	makefile, err := os.ReadFile(filepath.Join(repository(), "Makefile"))
	if err != nil {
		return err
	}
	given, of := flagsOfARGS.FindStringSubmatch(words), ""
	words = flagsOfARGS.ReplaceAllString(words, " ARGS=")
	for _, variable := range makeVariable.FindAllStringSubmatch(words, -1) {
		if !regexp.MustCompile(`(?m)^` + variable[1] + ` *[:?]?=`).Match(makefile) {
			return fmt.Errorf("the Makefile has no variable %s", variable[1])
		}
	}
	for _, target := range strings.Fields(makeVariable.ReplaceAllString(words, " =")) {
		if strings.HasPrefix(target, "=") {
			continue
		}
		if of = target; !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(target) + `[a-z -]*:`).Match(makefile) {
			return fmt.Errorf("the Makefile has no target %q", target)
		}
	}
	if given == nil {
		return nil
	}
	return checkFlags(of, given[1]+given[2])
}

// checkFlags looks for flags in the source of the program to which a target of make passes ARGS on.
func checkFlags(target, flags string) error {
	folder, takes := map[string]string{"faults": "faults", "bench-delivery": "bench", "bench-api": "bench",
		"walks": "walks", "words": ""}[target]
	if !takes {
		return fmt.Errorf("make %s takes no ARGS", target)
	}
	files, err := filepath.Glob(filepath.Join(repository(), "lab", folder, "*.go"))
	if err != nil || folder == "" {
		return err
	}
	var source strings.Builder
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		source.Write(content)
	}
	for _, name := range flagName.FindAllStringSubmatch(flags, -1) {
		if !regexp.MustCompile(`\((?:&[\w.]+, )?"` + name[1] + `", `).MatchString(source.String()) {
			return fmt.Errorf("make %s has no flag -%s", target, name[1])
		}
	}
	return nil
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
					assert.NoError(t, checkExists(c.text), "%s: %s", page, c.text)
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
	for _, command := range []string{"make frobnicate", "make faults LEVEL=3", "make faults ARGS='-events 3 -nonsense'",
		"make unit ARGS=-v", "go run ./cmd/nothing", "go test -C lab/kube ./nothing", "scripts/nothing.sh",
		"docker compose -f deployments/nothing.yaml up"} {
		require.Error(t, checkExists(command), command)
	}
	for _, command := range []string{"make", "make unit", "make faults ARGS='-events 3000 -hits 1 -short' SEED=7",
		"go test ./core/...", "go test -C lab/kube ./chart", "scripts/ensure-debian.sh"} {
		require.NoError(t, checkExists(command), command)
	}
	for _, command := range []docCommand{{text: "make frobnicate"}, {text: "curl -s x", script: true},
		{text: "admin doctor", script: true}, {text: "make test && rm -rf bin", script: true}} {
		_, excepted := exceptionFor("README.md", command)
		require.False(t, excepted, command.text)
	}
}
