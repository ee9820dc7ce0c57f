package e2e_test

import (
	"bufio"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// docShell is one bash in which the commands of a page run in their order, as a reader's shell would run them.
type docShell struct {
	stdin   io.Writer
	lines   chan string
	dir     string
	headers string // directory of the response headers that curl has seen
}

const commandDone = "\x01command done "

// newDocShell starts a shell in dir with the given variables. Every curl fails on an error status and leaves its
// headers.
func newDocShell(t testing.TB, dir string, given map[string]string) *docShell {
	t.Helper()
	s := &docShell{lines: make(chan string, 1000), dir: dir, headers: t.TempDir()}
	bash := exec.Command("bash", "--noprofile", "--norc")
	bash.Dir = dir
	bash.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // ends with the processes that it started
	bash.Env = append(os.Environ(),
		"PATH="+filepath.Dir(binary(t, "admin"))+string(os.PathListSeparator)+os.Getenv("PATH"), "HEADERS="+s.headers)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		bash.Env = append(bash.Env, name+"="+given[name])
	}
	var err error
	s.stdin, err = bash.StdinPipe()
	require.NoError(t, err)
	out, err := bash.StdoutPipe()
	require.NoError(t, err)
	bash.Stderr = bash.Stdout
	require.NoError(t, bash.Start())
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			s.lines <- lines.Text()
		}
		close(s.lines)
	}()
	t.Cleanup(func() {
		_ = syscall.Kill(-bash.Process.Pid, syscall.SIGKILL)
		for range s.lines { // until the last process has closed its output
		}
		_ = bash.Wait()
	})
	s.run(t, `set -o pipefail; curl() { command curl --fail-with-body -D "$(mktemp "$HEADERS/XXXXXX")" "$@"; }`)
	return s
}

var (
	assigned       = regexp.MustCompile(`^(?:export )?([A-Z_]+)=\S*$|^(?:export )?([A-Z_]+)=(?:["']|\$\()`)
	documented     = regexp.MustCompile(`# (\d{3})\b`)
	answeredStatus = regexp.MustCompile(`(?m)^HTTP/\S+ (\d{3})`)
)

// run runs one command, which must succeed, and gives its output. A curl must get a 2xx, and the status in the
// command's comment where the comment begins with a status. A variable that the command sets must not be empty.
func (s *docShell) run(t testing.TB, command string) string {
	t.Helper()
	script := command + "\nprintf '\\n" + `\001` + "command done %d\\n' $?\n"
	if found := assigned.FindStringSubmatch(bare(command)); found != nil {
		script = command + "\n[ $? = 0 ] && [ -n \"$" + found[1] + found[2] + "\" ]; printf '\\n" + `\001` +
			"command done %d\\n' $?\n"
	}
	_, err := io.WriteString(s.stdin, script)
	require.NoError(t, err)
	var output []string
	patience := time.After(soon)
	for {
		select {
		case line, open := <-s.lines:
			require.True(t, open, "the shell ended in: %s\n%s", command, strings.Join(output, "\n"))
			status, done := strings.CutPrefix(line, commandDone)
			if !done {
				output = append(output, line)
				continue
			}
			said := strings.TrimSpace(strings.Join(output, "\n"))
			require.Equal(t, "0", status, "%s\n%s", command, said)
			s.checkAnswers(t, command, said)
			return said
		case <-patience:
			require.FailNow(t, "the command does not end", "%s\n%s", command, strings.Join(output, "\n"))
		}
	}
}

// checkAnswers compares the statuses that curl got with 2xx and with the documented status.
func (s *docShell) checkAnswers(t testing.TB, command, output string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.headers, "*"))
	require.NoError(t, err)
	want := documented.FindStringSubmatch(command)
	require.False(t, want != nil && len(files) == 0, "a status is documented and there was no request: %s", command)
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.Remove(file))
		all := answeredStatus.FindAllStringSubmatch(string(content), -1)
		require.NotEmpty(t, all, "no answer: %s", command)
		got := all[len(all)-1][1]
		status, err := strconv.Atoi(got)
		require.NoError(t, err)
		require.Equal(t, 2, status/100, "%s\n%s answered %s", command, got, output)
		if want != nil {
			require.Equal(t, want[1], got, command)
		}
	}
}
